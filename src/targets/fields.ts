import { display, WakefulError } from '../error.ts'

/** Refuses fields of a target that its kind has not, by their names. */
export function assertFields(spec: object, known: readonly string[], what: string): void {
  const unknown = Object.keys(spec).filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  throw new WakefulError('target.unknown_field', { target: what, names: unknown.map(display), known })
}
