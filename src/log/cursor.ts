import { type Serial, serialOf } from '../alarm/index.ts'
import { WakefulError } from '../error.ts'

/** A place in a log or a list as users hold it: opaque, so that its inside may change. */
export function encodeCursor(kind: 'events' | 'list', place: readonly Serial[]): string {
  return btoa(`${kind}:${place.join(':')}`).replaceAll('=', '')
}

/** Reads a cursor back, or refuses what is none. */
export function decodeCursor(kind: 'events' | 'list', cursor: string): Serial[] {
  const refusal = new WakefulError(
    'invalid_request',
    `${JSON.stringify(cursor.slice(0, 100))} is no cursor of a page of ${kind}`,
  )
  let text: string
  try {
    text = atob(cursor)
  } catch {
    throw refusal
  }
  const [name, ...parts] = text.split(':')
  if (name !== kind || parts.length === 0 || !parts.every((part) => /^-?\d{1,19}$/.test(part))) throw refusal
  return parts.map(serialOf)
}
