/** The longest text this room reads; anything longer is refused before any pattern is tried on it. */
export const TEXT_LENGTH_MAX = 1000

/** A given value as messages show it: bounded, and safe for anything a caller may hand in. */
export function quote(value: unknown): string {
  if (typeof value === 'string') return bounded(`'${value}'`)
  if (typeof value === 'object' && value !== null) return isoOf(value) ?? 'an object'
  return typeof value === 'function' ? 'a function' : bounded(String(value))
}

/** A Date that names an instant, as text. Asked of the prototype: an object may only look like one. */
function isoOf(value: object): string | null {
  try {
    return Date.prototype.toISOString.call(value)
  } catch {
    return null
  }
}

function bounded(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
