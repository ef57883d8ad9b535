import { utf8Length } from '../alarm/index.ts'
import { display, WakefulError } from '../error.ts'
import { WAKE_FIELDS, type Wake, type WakeField, wakeFieldJson } from './wake-body.ts'

/** A body as a user writes it: JSON, or text, whose strings may hold placeholders such as `{{wake_message}}`. */
export type BodyTemplate = unknown

const TEMPLATE_BYTES_MAX = 64 * 1024
const DEPTH_MAX = 32
const PLACEHOLDER = /\{\{\s*([^{}]*?)\s*\}\}/g
/** A string that is nothing but one placeholder: the JSON value itself takes its place. */
const ONLY_PLACEHOLDER = /^\{\{\s*([^{}]*?)\s*\}\}$/
const PAYLOAD_PATH = 'payload.'

/** Refuses what is no JSON, is too large, or names what a wake has not; answers a copy that nobody else holds. */
export function readTemplate(given: unknown): BodyTemplate {
  let text: string | undefined
  try {
    text = JSON.stringify(given)
  } catch {
    text = undefined
  }
  if (text === undefined)
    throw new WakefulError(
      'invalid_request',
      `body of the webhook must be JSON or text, not ${display(given)}`,
    )
  const bytes = utf8Length(text)
  if (bytes > TEMPLATE_BYTES_MAX) {
    throw new WakefulError(
      'invalid_request',
      `body of the webhook is ${bytes} bytes long; at most ${TEMPLATE_BYTES_MAX} are allowed`,
    )
  }
  if (!text.isWellFormed() || /(?<!\\)(?:\\\\)*\\ud[89a-f]/i.test(text))
    throw new WakefulError('invalid_request', 'body of the webhook contains half of a surrogate pair')
  const template: unknown = JSON.parse(text)
  assertPlaceholders(template, 0)
  return template
}

function assertPlaceholders(value: unknown, depth: number): void {
  if (depth > DEPTH_MAX)
    throw new WakefulError('invalid_request', `body of the webhook is nested deeper than ${DEPTH_MAX}`)
  if (typeof value === 'string') {
    for (const [, name] of value.matchAll(PLACEHOLDER)) if (!isKnown(name!)) refuse(name!)
  } else if (Array.isArray(value)) {
    for (const each of value) assertPlaceholders(each, depth + 1)
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, each] of Object.entries(value)) {
      if (name.includes('{{'))
        throw new WakefulError(
          'invalid_request',
          `body of the webhook has a placeholder in the name ${display(name)}: only values are filled in`,
        )
      assertPlaceholders(each, depth + 1)
    }
  }
}

function isKnown(name: string): boolean {
  if (WAKE_FIELDS.includes(name as WakeField)) return true
  return name.startsWith(PAYLOAD_PATH) && name.split('.').every((part) => part !== '')
}

function refuse(name: string): never {
  throw new WakefulError(
    'invalid_request',
    `body of the webhook names ${display(`{{${name}}}`)}; known are ${WAKE_FIELDS.join(', ')} and payload.a.b`,
  )
}

/** Fills in a template: JSON text of anything but a string, which is filled in as it is. */
export function fillTemplate(template: BodyTemplate, wake: Wake): string {
  const known = new Filling(wake)
  return typeof template === 'string' ? known.text(template) : known.json(template)
}

/** What the placeholders stand for; the payload is parsed once, and only where a path leads into it. */
class Filling {
  readonly #wake: Wake
  #payload: { readonly value: unknown } | null = null

  constructor(wake: Wake) {
    this.#wake = wake
  }

  json(value: unknown): string {
    if (typeof value === 'string') {
      const only = ONLY_PLACEHOLDER.exec(value)
      return only === null ? JSON.stringify(this.text(value)) : this.#valueJson(only[1]!)
    }
    if (Array.isArray(value)) return `[${value.map((each) => this.json(each)).join(',')}]`
    if (typeof value !== 'object' || value === null) return JSON.stringify(value)
    const fields = Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}:${this.json(each)}`)
    return `{${fields.join(',')}}`
  }

  /** Strings as they are, nothing for null, all else as JSON. */
  text(template: string): string {
    return template.replace(PLACEHOLDER, (_, name: string) => {
      const json = this.#valueJson(name).trim()
      if (json === 'null') return ''
      return json.startsWith('"') ? (JSON.parse(json) as string) : json
    })
  }

  #valueJson(name: string): string {
    if (!name.startsWith(PAYLOAD_PATH)) return wakeFieldJson(this.#wake, name as WakeField)
    let value = this.#parsed()
    for (const step of name.slice(PAYLOAD_PATH.length).split('.')) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return 'null'
      value = (value as Record<string, unknown>)[step]
    }
    return JSON.stringify(value) ?? 'null'
  }

  #parsed(): unknown {
    this.#payload ??= { value: parseVerbatim(this.#wake.alarm.payload) }
    return this.#payload.value
  }
}

interface Source {
  readonly source?: string
}
const { parse, rawJSON } = JSON as unknown as {
  parse(text: string, reviver: (name: string, value: unknown, context?: Source) => unknown): unknown
  rawJSON?(text: string): unknown
}

/** Numbers keep every digit they were written with, where the runtime can (promise: verbatim). */
function parseVerbatim(text: string | null): unknown {
  if (text === null) return null
  try {
    return parse(text, (_, value, context) =>
      typeof value === 'number' && context?.source !== undefined && rawJSON !== undefined
        ? rawJSON(context.source)
        : value,
    )
  } catch {
    return null
  }
}
