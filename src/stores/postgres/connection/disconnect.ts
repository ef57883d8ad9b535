import type pg from 'pg'

/** A goodbye that the server has not answered by then goes over a connection that is half open. */
const GOODBYE_MS = 1_000

/** Closes a connection without a goodbye: one that is half open would be waited for until the network gives up. */
export function hangUp(client: pg.Client | pg.PoolClient): void {
  const { connection } = client as unknown as { connection?: { stream?: { destroy(): void } } }
  connection?.stream?.destroy()
}

/** Ends what says goodbye, and hangs up whoever has not been answered in time. */
export async function endAll(goodbye: Promise<unknown>, open: () => Iterable<pg.Client>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      for (const client of open()) hangUp(client)
      resolve()
    }, GOODBYE_MS)
  })
  await Promise.race([goodbye, late])
  clearTimeout(timer)
}
