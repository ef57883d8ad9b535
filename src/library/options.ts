import { WakefulError } from '../error.ts'

/** The names a call's options may have; the compiler checks that they are the interface's, all of them. */
type Names<T> = { readonly [K in keyof Required<T>]: true }

/** What is said of a time, and not of an alarm. */
const WHEN_OPTIONS: ReadonlySet<string> = new Set([
  'exclude',
  'misfire',
  'jitter',
  'dst',
  'start',
  'end',
  'count',
])

/** Refuses options that are none, or that name what the call does not know: a typo must not change what is done. */
export function checked<T extends object>(call: string, options: unknown, names: Names<T>): T {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new WakefulError('invalid_request', `${call} takes its options as an object, not ${shown(options)}`)
  }
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(names, name)) continue
    if (WHEN_OPTIONS.has(name)) {
      throw new WakefulError(
        'invalid_request',
        `${name} belongs in the when of ${call}, not beside it: { at: 'every day at 9am', ${name}: … }`,
      )
    }
    const known = Object.keys(names).join(', ')
    throw new WakefulError(
      'invalid_request',
      `${call} does not know the option ${JSON.stringify(name)}; it knows ${known}`,
    )
  }
  return options as T
}

/** Refuses what is no list. */
export function checkedList<T>(call: string, items: unknown, of: string): readonly T[] {
  if (Array.isArray(items)) return items as T[]
  throw new WakefulError('invalid_request', `${call} takes a list of ${of}, not ${shown(items)}`)
}

/** Refuses what is neither left out nor a text. */
export function checkedText(call: string, name: string, value: unknown): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  throw new WakefulError('invalid_request', `${name} of ${call} must be a text, not ${shown(value)}`)
}

/** Says of which of many items a refusal is. */
export function ofItem<T>(at: number, work: () => T): T {
  try {
    return work()
  } catch (thrown) {
    if (!(thrown instanceof WakefulError)) throw thrown
    const field = `items[${at}]`
    throw new WakefulError(thrown.code, `${field}: ${thrown.message}`, { cause: thrown, field })
  }
}

function shown(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : typeof value
}
