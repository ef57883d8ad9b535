import { errorText, WakefulError } from '../error.ts'

/** JSON text given as it is, so that numbers beyond 2^53 and key order survive. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    if (!text.isWellFormed()) throw new WakefulError('json.lone_surrogate', { what: 'payload' })
    try {
      JSON.parse(text)
    } catch (cause) {
      throw new WakefulError('json.invalid', { what: 'payload', detail: errorText(cause) }, { cause })
    }
    this.text = text
  }
}

/** Wraps JSON text so that it is stored byte for byte. */
export function rawJson(text: string): RawJson {
  return new RawJson(text)
}

/** The JSON text of a payload: what was given as text is that text, and what JSON cannot say is refused. */
export function jsonText(payload: unknown): string {
  if (payload instanceof RawJson) return payload.text
  let text: string | undefined
  try {
    text = JSON.stringify(payload)
  } catch (cause) {
    throw new WakefulError('json.unwritable', { what: 'payload', detail: errorText(cause) }, { cause })
  }
  if (text === undefined)
    throw new WakefulError('json.unwritable', { what: 'payload', detail: `it is a ${typeof payload}` })
  if (text.includes('null')) refuseNonFinite(payload)
  return text
}

/** JSON writes NaN and infinities as null: what would come back is not what was given. */
function refuseNonFinite(payload: unknown): void {
  JSON.stringify(payload, (name, value: unknown) => {
    if (typeof value !== 'number' || Number.isFinite(value)) return value
    const where = name === '' ? '' : ` at ${JSON.stringify(name)}`
    throw new WakefulError('json.unwritable', { what: 'payload', detail: `it holds ${value}${where}` })
  })
}
