/** The longest name of a day off that is kept. */
export const LABEL_LENGTH_MAX = 200

/** A label on one line, bounded, and fit for any database. */
export function normalizeLabel(label: string): string {
  // Cut first: the rest would only be worked on to be thrown away.
  const line = label
    .slice(0, 4 * LABEL_LENGTH_MAX)
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  return line.length > LABEL_LENGTH_MAX ? `${line.slice(0, LABEL_LENGTH_MAX - 1).toWellFormed()}…` : line
}
