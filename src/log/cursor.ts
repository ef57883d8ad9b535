import { LAST_SERIAL, type Serial, serialOf } from '../alarm/index.ts'
import { WakefulError } from '../error.ts'

/** What a cursor is a position in. */
type CursorKind = 'events' | 'list' | 'failures'

/** A position in a log or a list as users see it: opaque, so that its contents may change. */
export function encodeCursor(kind: CursorKind, place: readonly Serial[]): string {
  return btoa(`${kind}:${place.join(':')}`).replaceAll('=', '')
}

/** Decodes a cursor, or refuses the text. */
export function decodeCursor(kind: CursorKind, cursor: string): Serial[] {
  const refusal = new WakefulError('cursor.malformed', { value: JSON.stringify(cursor.slice(0, 100)), kind })
  let text: string
  try {
    text = atob(cursor)
  } catch {
    throw refusal
  }
  const [name, ...parts] = text.split(':')
  if (name !== kind || !parts.every((part) => /^-?\d{1,19}$/.test(part))) throw refusal
  const place = parts.map(serialOf)
  if (!isPlace(kind, place)) throw refusal
  return place
}

/** A row number that a store can have assigned; in a list by time also an instant. */
function isPlace(kind: CursorKind, [row, at, ...more]: readonly Serial[]): boolean {
  if (row === undefined || row < 0 || row > LAST_SERIAL || more.length > 0) return false
  return at === undefined || (kind === 'list' && Number.isSafeInteger(at))
}
