import { inField, typeName, unknownField, WakefulError } from '../error.ts'
import { WHEN_OPTIONS } from '../time/index.ts'

/** The names a call's options may have; the compiler checks that they are the interface's, all of them. */
type Names<T> = { readonly [K in keyof Required<T>]: unknown }

/** Refuses options that are none, or that name what the call does not know: a typo must not change what is done. */
export function checked<T extends object>(call: string, options: unknown, names: Names<T>): T {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new WakefulError('options.not_object', { call, value: typeName(options) })
  }
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(names, name)) continue
    if (WHEN_OPTIONS.includes(name))
      throw new WakefulError('field.misplaced', { call, name }, { field: name })
    throw unknownField(name, Object.keys(names))
  }
  return options as T
}

/** Refuses what is no list. */
export function checkedList<T>(call: string, items: unknown, of: string): readonly T[] {
  if (Array.isArray(items)) return items as T[]
  throw new WakefulError('argument.not_list', { call, of, value: typeName(items) })
}

/** Refuses what is neither left out nor a text. */
export function checkedText(name: string, value: unknown): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  throw new WakefulError('field.invalid', { expected: 'a string', value: typeName(value) }, { field: name })
}

/** Runs work for one of many items, whose index is added to its errors. */
export function ofItem<T>(at: number, work: () => T): T {
  return inField(`items[${at}]`, work)
}

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> }

/** The fields that are not undefined: options that may be left out must not be there. */
export function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>
}

/** Options with their defaults, whose names are all that the call knows. */
export function withDefaults<T extends object, D extends Names<T>>(call: string, options: T, defaults: D) {
  type All = { readonly [K in keyof T & keyof D]-?: D[K] | Exclude<T[K], undefined> }
  return { ...defaults, ...defined(checked<T>(call, options, defaults)) } as All
}
