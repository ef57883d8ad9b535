import { FIELD_PARAMS, type Params, reasonOf } from './reason.ts'

/** Where a message is read: each interface has its own names for the same fields. */
export const INTERFACES = ['library', 'wire', 'cli', 'mcp'] as const

/** One of the interfaces a message can be rendered for. */
export type Interface = (typeof INTERFACES)[number]

/** How an interface says things: what a template is rendered with. */
export interface Words {
  readonly interface: Interface
  /** The field that the error is about. */
  readonly it: string
  /** What a part of a request is called: option, field, flag or argument. */
  readonly part: string
  /** A field by its name in the library. */
  name(field: string): string
  /** Several fields by their names in the library. */
  names(fields: readonly string[]): string
  /** A field with a value, as the caller would write it. */
  option(field: string, value: string): string
  /** An object as the caller would write it: `{ inbox: true }` in the library, and JSON elsewhere. */
  object(members: Members): string
}

/** What an object in a message has, by the names of the library. */
export interface Members {
  readonly [name: string]: string | number | true | readonly string[] | Members
}

const PART = { library: 'option', wire: 'field', cli: 'flag', mcp: 'argument' }

/** Fields whose wire name is not the library's name in snake_case. */
const WIRE_NAMES: Readonly<Record<string, string>> = {
  at: 'fire_at',
  cron: 'cron_expr',
  message: 'wake_message',
}

const LIBRARY_NAMES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(WIRE_NAMES).map(([library, wire]) => [wire, library]),
)

/** Fields that the command line does not take as `--name-of-the-field`. */
const FLAGS: Readonly<Record<string, string>> = {
  at: 'WHEN',
  when: 'WHEN',
  'backoff.baseMs': '--backoff-base',
  'backoff.capMs': '--backoff-cap',
  dates: 'DATES',
  dst: '--dst-gap and --dst-overlap',
  'exclude.move': '--move',
  'exclude.offset': '--offset',
  id: 'ID',
  'misfire.all.max': '--misfire-max',
  'misfire.all.within': '--misfire-within',
  name: 'NAME',
  occurrenceId: '--occurrence',
  reason: 'REASON',
  result: 'RESULT',
  'target.pool': '--pool',
  updatedAt: '--if-updated-at',
}

/** Fields whose parts have no flags of their own. */
const WHOLE_FLAGS: readonly string[] = ['exclude', 'onFailure', 'target']

/** Those of them that take JSON, so that users know their parts by name. */
const JSON_FLAGS: readonly string[] = ['onFailure', 'target']

/** An error as data: what goes over the wire, and what every interface renders its text from. */
export interface ErrorData {
  readonly reason: string
  readonly params: Params
  readonly message: string
  readonly field?: string | undefined
  /** Several errors at once, or the one that this adds to. */
  readonly errors?: readonly ErrorData[] | undefined
}

/** The text of an error in an interface. A field that the text does not name stands in front of it. */
export function render(error: ErrorData, where: Interface): string {
  const reason = reasonOf(error.reason)
  if (reason === undefined) return error.message
  const name = (field: string) => nameIn(where, field)
  const it = error.field === undefined ? 'The value' : subjectIn(where, error.field)
  const own = reason.text(error.params, {
    interface: where,
    it,
    part: PART[where],
    name,
    names: (fields) => fields.map(name).join(', '),
    option: (field, value) => optionIn(where, field, value),
    object: (members) => objectIn(where, members),
  })
  const others = (error.errors ?? []).map((each) => render(each, where))
  const text = [...others, own].filter((each) => each !== '').join(' ')
  return error.field === undefined || own.includes(it) ? text : `${it}: ${text}`
}

function nameIn(where: Interface, field: string): string {
  if (where === 'cli') return flagOf(field)
  return `\`${where === 'library' ? field : wireField(field)}\``
}

/** The field that an error is about. A part of a flag's JSON stands behind the flag: `--target: webhook`. */
function subjectIn(where: Interface, field: string): string {
  const [whole, ...rest] = field.split('.') as [string, ...string[]]
  const isInJson = rest.length > 0 && JSON_FLAGS.includes(whole) && FLAGS[field] === undefined
  return where === 'cli' && isInJson ? `${flagOf(whole)}: ${rest.join('.')}` : nameIn(where, field)
}

function optionIn(where: Interface, field: string, value: string): string {
  if (where === 'cli') return field === 'at' ? `'${value}'` : `${flagOf(field)} '${value}'`
  const quote = (text: string) => (where === 'library' ? `'${text}'` : `"${text}"`)
  const names = where === 'library' ? field.split('.') : wireField(field).split('.').map(quote)
  return names.reduceRight((inner, name) => `{ ${name}: ${inner} }`, quote(value))
}

function objectIn(where: Interface, members: Members): string {
  const isLibrary = where === 'library'
  const parts = Object.entries(members).map(([name, value]) => {
    const isObject = typeof value === 'object' && !Array.isArray(value)
    const text = isObject ? objectIn(where, value as Members) : JSON.stringify(value)
    return isLibrary
      ? `${name}: ${isObject ? text : text.replaceAll('"', "'")}`
      : `${JSON.stringify(snake(name))}:${text}`
  })
  return isLibrary ? `{ ${parts.join(', ')} }` : `{${parts.join(',')}}`
}

function flagOf(field: string): string {
  if (field.includes('[')) return field
  const flag = (name: string) => `--${snake(name).replaceAll('.', '-').replaceAll('_', '-')}`
  const [whole] = field.split('.') as [string]
  return FLAGS[field] ?? flag(WHOLE_FLAGS.includes(whole) ? whole : field)
}

/** A field's path as the wire has it: `items[1].max_failures`. */
export function wireField(field: string): string {
  return eachName(field, (name) => WIRE_NAMES[name] ?? snake(name))
}

/** The library's name of a field's path on the wire. */
export function libraryField(field: string): string {
  return eachName(field, (name) => LIBRARY_NAMES[name] ?? camel(name))
}

function eachName(path: string, rename: (name: string) => string): string {
  return path.replace(/[^.[\]]+/g, (name) => (/^\d+$/.test(name) ? name : rename(name)))
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function camel(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** An error as a problem document has it: fields have their wire names, also those that parameters name. */
export type WireError = Pick<ErrorData, 'reason' | 'params' | 'field'>

/** An error's data as the wire has it. */
export function toWire({ reason, params, field }: ErrorData): WireError {
  return {
    reason,
    params: renamed(params, wireField),
    ...(field !== undefined && { field: wireField(field) }),
  }
}

/** An error's data read from the wire; null where it is not such data. */
export function fromWire(input: unknown): WireError | null {
  const { reason, params, field } = (input ?? {}) as Record<string, unknown>
  if (typeof reason !== 'string' || typeof params !== 'object' || params === null) return null
  return {
    reason,
    params: renamed(params as Params, libraryField),
    ...(typeof field === 'string' && field !== '' && { field: libraryField(field) }),
  }
}

function renamed(params: Params, rename: (field: string) => string): Params {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => {
      if (!FIELD_PARAMS.has(name)) return [name, value]
      if (typeof value === 'string') return [name, rename(value)]
      return [name, Array.isArray(value) ? value.map((each) => rename(String(each))) : value]
    }),
  )
}
