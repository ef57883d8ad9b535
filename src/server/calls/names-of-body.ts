import { WakefulError } from '../../error.ts'

/** The bodies of calls that take a time, and of their items. */
interface TimedBody {
  readonly when?: unknown
  readonly items?: readonly TimedBody[]
}

/**
 * Does the work of a call. A time in plain language is `when` in a body and `at` in the library, as `fire_at` is: an error
 * about it names the field that the caller wrote.
 */
export async function inNamesOfBody<T>(body: unknown, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    const path = thrown instanceof WakefulError ? /^(?:items\[(\d+)\]\.)?at$/.exec(thrown.field ?? '') : null
    if (path === null) throw thrown
    const { items, when } = body as TimedBody
    const written = path[1] === undefined ? when : items?.[Number(path[1])]?.when
    const error = thrown as WakefulError
    throw written === undefined ? error : error.with({ field: error.field!.replace(/at$/, 'when') })
  }
}
