import { WakefulError } from '../error.ts'

/** A place in a log or a list as users hold it: opaque, so that its inside may change. */
export function encodeCursor(kind: 'events' | 'list', place: readonly number[]): string {
  return btoa(`${kind}:${place.join(':')}`).replaceAll('=', '')
}

/** Reads a cursor back, or refuses what is none. */
export function decodeCursor(kind: 'events' | 'list', cursor: string): number[] {
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
  const place = parts.map(Number)
  if (name !== kind || place.length === 0 || !place.every(Number.isSafeInteger)) throw refusal
  return place
}
