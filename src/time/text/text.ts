/** The longest text that is parsed. Longer ones are refused before any pattern runs on them. */
export const TEXT_LENGTH_MAX = 1000

/** A value as error messages quote it: bounded in length, and safe for any input. */
export function quote(value: unknown): string {
  if (typeof value === 'string') return bounded(`'${value}'`)
  if (typeof value === 'object' && value !== null) return isoOf(value) ?? 'an object'
  return typeof value === 'function' ? 'a function' : bounded(String(value))
}

/** A valid Date as text. Calls the prototype, since any object can have a `toISOString` of its own. */
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
