import { utf8Length } from '../alarm/index.ts'
import { display, WakefulError } from '../error.ts'
import { parseExact } from '../json/index.ts'
import { DeliveryFailure } from './targets.ts'
import { WAKE_FIELDS, type Wake, type WakeField, wakeFieldJson } from './wake-body.ts'

/** A body as a user writes it: JSON, or text, whose strings may contain placeholders such as `{{wake_message}}`. */
export type BodyTemplate = unknown

const TEMPLATE_BYTES_MAX = 64 * 1024
const DEPTH_MAX = 32
const PLACEHOLDERS_MAX = 100
/** The maximum size of a filled-in body, not counting one payload. */
const FILLED_BYTES_MAX = 1024 * 1024
/** Spaces around the name are trimmed later: matching them here takes quadratic time for many spaces. */
const PLACEHOLDER = /\{\{([^{}]*)\}\}/g
/** A string that is only a placeholder. The JSON value itself replaces it. */
const ONLY_PLACEHOLDER = /^\{\{([^{}]*)\}\}$/
const PAYLOAD_PATH = 'payload.'

/** Validates a template: JSON, of limited size, without unknown fields. Returns a copy, which the caller cannot change. */
export function readTemplate(body: unknown): BodyTemplate {
  let text: string | undefined
  try {
    text = JSON.stringify(body)
  } catch {
    text = undefined
  }
  if (text === undefined) throw new WakefulError('webhook.body', { value: display(body) })
  const bytes = utf8Length(text)
  if (bytes > TEMPLATE_BYTES_MAX) throw new WakefulError('field.too_long', { bytes, max: TEMPLATE_BYTES_MAX })
  if (!text.isWellFormed() || /(?<!\\)(?:\\\\)*\\ud[89a-f]/i.test(text))
    throw new WakefulError('field.lone_surrogate', {})
  const template: unknown = JSON.parse(text)
  const count = countPlaceholders(template, 0)
  if (count > PLACEHOLDERS_MAX)
    throw new WakefulError('field.too_many', { count, unit: 'placeholders', max: PLACEHOLDERS_MAX })
  return template
}

/** Counts the placeholders, and refuses unknown ones. */
function countPlaceholders(value: unknown, depth: number): number {
  if (depth > DEPTH_MAX) throw new WakefulError('json.too_deep', { max: DEPTH_MAX })
  let count = 0
  if (typeof value === 'string') {
    for (const [, name] of value.matchAll(PLACEHOLDER)) {
      assertKnown(name!.trim())
      count += 1
    }
  } else if (Array.isArray(value)) {
    for (const each of value) count += countPlaceholders(each, depth + 1)
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, each] of Object.entries(value)) {
      if (name.includes('{{')) throw new WakefulError('webhook.placeholder_in_name', { name: display(name) })
      count += countPlaceholders(each, depth + 1)
    }
  }
  return count
}

function assertKnown(name: string): void {
  if (WAKE_FIELDS.includes(name as WakeField)) return
  if (name.startsWith(PAYLOAD_PATH) && name.split('.').every((part) => part !== '')) return
  throw new WakefulError('webhook.placeholder', { name: display(`{{${name}}}`), known: WAKE_FIELDS })
}

/** Fills in a template. A string becomes text, anything else becomes JSON text. Throws if the result is too large. */
export function fillTemplate(template: BodyTemplate, wake: Wake): string {
  const filler = new TemplateFiller(wake)
  const body = typeof template === 'string' ? filler.text(template) : filler.json(template)
  filler.assertFits(utf8Length(body))
  return body
}

/** Replaces the placeholders of one body. The payload is parsed once, and only if a placeholder has a path into it. */
class TemplateFiller {
  readonly #wake: Wake
  readonly #bytesMax: number
  readonly #jsonByName = new Map<string, string>()
  #payload: { readonly value: unknown } | null = null
  /** Characters filled in so far. The body has at least as many bytes. */
  #filled = 0

  constructor(wake: Wake) {
    this.#wake = wake
    this.#bytesMax = FILLED_BYTES_MAX + utf8Length(wake.alarm.payload ?? '')
  }

  /** Called while the body grows, so that one that is too large is never built. Final: a retry would be as large. */
  assertFits(bytes: number): void {
    if (bytes > this.#bytesMax)
      throw new DeliveryFailure('not sent: its body, filled in, has more than 1 MiB beside the payload', {
        final: true,
      })
  }

  json(value: unknown): string {
    if (typeof value === 'string') {
      const placeholder = ONLY_PLACEHOLDER.exec(value)
      if (placeholder === null) return JSON.stringify(this.text(value))
      return this.#counted(this.#valueJson(placeholder[1]!))
    }
    if (Array.isArray(value)) return `[${value.map((each) => this.json(each)).join(',')}]`
    if (typeof value !== 'object' || value === null) return JSON.stringify(value)
    const fields = Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}:${this.json(each)}`)
    return `{${fields.join(',')}}`
  }

  /** Fills placeholders into text: strings as they are, nothing for null, anything else as JSON. */
  text(template: string): string {
    return template.replace(PLACEHOLDER, (_, name: string) => {
      const json = this.#valueJson(name).trim()
      if (json === 'null') return ''
      return this.#counted(json.startsWith('"') ? (JSON.parse(json) as string) : json)
    })
  }

  #counted(text: string): string {
    this.#filled += text.length
    this.assertFits(this.#filled)
    return text
  }

  #valueJson(written: string): string {
    const name = written.trim()
    const json = this.#jsonByName.get(name) ?? this.#readJson(name)
    this.#jsonByName.set(name, json)
    return json
  }

  #readJson(name: string): string {
    if (!name.startsWith(PAYLOAD_PATH)) return wakeFieldJson(this.#wake, name as WakeField)
    let value = this.#parsedPayload()
    for (const step of name.slice(PAYLOAD_PATH.length).split('.')) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return 'null'
      value = (value as Record<string, unknown>)[step]
    }
    return JSON.stringify(value) ?? 'null'
  }

  #parsedPayload(): unknown {
    this.#payload ??= { value: payloadValue(this.#wake.alarm.payload) }
    return this.#payload.value
  }
}

/** The value of a payload (promise: verbatim); null if it was damaged in the database. */
function payloadValue(payload: string | null): unknown {
  try {
    return payload === null ? null : parseExact(payload)
  } catch {
    return null
  }
}
