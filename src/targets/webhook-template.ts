import { utf8Length } from '../alarm/index.ts'
import { display, WakefulError } from '../error.ts'
import { DeliveryFailure } from './target-kind.ts'
import { WAKE_FIELDS, type Wake, type WakeField, wakeFieldJson } from './wake-body.ts'

/** A body as a user writes it: JSON, or text, whose strings may contain placeholders such as `{{wake_message}}`. */
export type BodyTemplate = unknown

const TEMPLATE_BYTES_MAX = 64 * 1024
const DEPTH_MAX = 32
const PLACEHOLDERS_MAX = 100
/** The size of a filled-in body beside one payload, however large that is. */
const FILLED_BYTES_MAX = 1024 * 1024
/** Spaces around the name are trimmed elsewhere: looked for here, they would be looked through again and again. */
const PLACEHOLDER = /\{\{([^{}]*)\}\}/g
/** A string that is nothing but one placeholder: the JSON value itself takes its place. */
const ONLY_PLACEHOLDER = /^\{\{([^{}]*)\}\}$/
const PAYLOAD_PATH = 'payload.'

/** Refuses what is not JSON, too large, or names unknown fields; answers a copy, so that the caller cannot change it later. */
export function readTemplate(body: unknown): BodyTemplate {
  let text: string | undefined
  try {
    text = JSON.stringify(body)
  } catch {
    text = undefined
  }
  if (text === undefined)
    throw new WakefulError('webhook.invalid', {
      detail: `The body of the webhook must be JSON or text, not ${display(body)}.`,
    })
  const bytes = utf8Length(text)
  if (bytes > TEMPLATE_BYTES_MAX) {
    throw new WakefulError('webhook.invalid', {
      detail: `The body of the webhook is ${bytes} bytes long. At most ${TEMPLATE_BYTES_MAX} are allowed.`,
    })
  }
  if (!text.isWellFormed() || /(?<!\\)(?:\\\\)*\\ud[89a-f]/i.test(text))
    throw new WakefulError('webhook.invalid', {
      detail: 'The body of the webhook contains half of a surrogate pair.',
    })
  const template: unknown = JSON.parse(text)
  const count = countPlaceholders(template, 0)
  if (count > PLACEHOLDERS_MAX)
    throw new WakefulError('webhook.invalid', {
      detail: `The body of the webhook has ${count} placeholders. At most ${PLACEHOLDERS_MAX} are allowed.`,
    })
  return template
}

/** How many there are; an unknown one is refused. */
function countPlaceholders(value: unknown, depth: number): number {
  if (depth > DEPTH_MAX)
    throw new WakefulError('webhook.invalid', {
      detail: `The body of the webhook is nested deeper than ${DEPTH_MAX} levels.`,
    })
  let count = 0
  if (typeof value === 'string') {
    for (const [, within] of value.matchAll(PLACEHOLDER)) {
      assertKnown(within!.trim())
      count += 1
    }
  } else if (Array.isArray(value)) {
    for (const each of value) count += countPlaceholders(each, depth + 1)
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, each] of Object.entries(value)) {
      if (name.includes('{{'))
        throw new WakefulError('webhook.invalid', {
          detail: `The body of the webhook has a placeholder in the name ${display(name)}. Placeholders work in values only.`,
        })
      count += countPlaceholders(each, depth + 1)
    }
  }
  return count
}

function assertKnown(name: string): void {
  if (WAKE_FIELDS.includes(name as WakeField)) return
  if (name.startsWith(PAYLOAD_PATH) && name.split('.').every((part) => part !== '')) return
  throw new WakefulError('webhook.invalid', {
    detail: `The body of the webhook names ${display(`{{${name}}}`)}. Known: ${WAKE_FIELDS.join(', ')} and payload.a.b.`,
  })
}

/** Fills in a template: JSON text of anything but a string, which is filled in as it is. Throws where it grows too large. */
export function fillTemplate(template: BodyTemplate, wake: Wake): string {
  const known = new Filling(wake)
  const body = typeof template === 'string' ? known.text(template) : known.json(template)
  known.assertFits(utf8Length(body))
  return body
}

/** What the placeholders stand for; the payload is parsed once, and only where a path leads into it. */
class Filling {
  readonly #wake: Wake
  readonly #bytesMax: number
  readonly #made = new Map<string, string>()
  #payload: { readonly value: unknown } | null = null
  /** Characters filled in so far: the body has as many bytes at least. */
  #filled = 0

  constructor(wake: Wake) {
    this.#wake = wake
    this.#bytesMax = FILLED_BYTES_MAX + utf8Length(wake.alarm.payload ?? '')
  }

  /** Asked while it grows, so that what is too large is never made; trying again would make it as large. */
  assertFits(bytes: number): void {
    if (bytes > this.#bytesMax)
      throw new DeliveryFailure('not sent: its body, filled in, has more than 1 MiB beside the payload', {
        final: true,
      })
  }

  json(value: unknown): string {
    if (typeof value === 'string') {
      const only = ONLY_PLACEHOLDER.exec(value)
      return only === null ? JSON.stringify(this.text(value)) : this.#counted(this.#valueJson(only[1]!))
    }
    if (Array.isArray(value)) return `[${value.map((each) => this.json(each)).join(',')}]`
    if (typeof value !== 'object' || value === null) return JSON.stringify(value)
    const fields = Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}:${this.json(each)}`)
    return `{${fields.join(',')}}`
  }

  /** Strings as they are, nothing for null, all else as JSON. */
  text(template: string): string {
    return template.replace(PLACEHOLDER, (_, within: string) => {
      const json = this.#valueJson(within).trim()
      if (json === 'null') return ''
      return this.#counted(json.startsWith('"') ? (JSON.parse(json) as string) : json)
    })
  }

  #counted(text: string): string {
    this.#filled += text.length
    this.assertFits(this.#filled)
    return text
  }

  #valueJson(within: string): string {
    const name = within.trim()
    const made = this.#made.get(name) ?? this.#makeJson(name)
    this.#made.set(name, made)
    return made
  }

  #makeJson(name: string): string {
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
