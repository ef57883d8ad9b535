/** A key that is revoked while a call waits must end it: looked at this often, through copies of half a second. */
const LOOK_MS = 400

/**
 * Does work for as long as its caller is let in. Somebody who waits a minute for a wake gets nothing by a key that was
 * revoked meanwhile: the work is aborted, and what it still brings is not handed over.
 */
export async function whileAdmitted<T>(
  admit: () => Promise<unknown>,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ended = new AbortController()
  let refusal: { readonly thrown: unknown } | null = null
  let timer: NodeJS.Timeout | undefined
  const look = async (): Promise<void> => {
    try {
      await admit()
      plan()
    } catch (thrown) {
      refusal = { thrown }
      ended.abort()
    }
  }
  const plan = () => {
    if (!ended.signal.aborted) timer = setTimeout(() => void look(), LOOK_MS)
  }
  plan()
  try {
    const done = await work(AbortSignal.any([signal, ended.signal]))
    if (refusal !== null) throw (refusal as { readonly thrown: unknown }).thrown
    return done
  } finally {
    ended.abort()
    clearTimeout(timer)
  }
}
