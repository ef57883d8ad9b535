/** One thing in a calendar. */
export interface CalendarEntry {
  readonly uid: string
  readonly at: number
  /** When what it stands for was last changed. */
  readonly changedAt: number
  readonly summary: string
  readonly description: string
}

const LINE_OCTETS_MAX = 75
const encoder = new TextEncoder()

/** Entries as a calendar of RFC 5545. */
export function icsText(name: string, entries: readonly CalendarEntry[]): string {
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Wakeful//alarms//EN',
    'CALSCALE:GREGORIAN',
    'METHOD:PUBLISH',
    `X-WR-CALNAME:${escaped(name)}`,
    'REFRESH-INTERVAL;VALUE=DURATION:PT15M',
    'X-PUBLISHED-TTL:PT15M',
    ...entries.flatMap(entryLines),
    'END:VCALENDAR',
  ]
  return `${lines.map(folded).join('\r\n')}\r\n`
}

function entryLines({ uid, at, changedAt, summary, description }: CalendarEntry): string[] {
  return [
    'BEGIN:VEVENT',
    `UID:${escaped(uid)}`,
    `DTSTAMP:${stamp(changedAt)}`,
    `DTSTART:${stamp(at)}`,
    'DURATION:PT0S',
    'TRANSP:TRANSPARENT',
    `SUMMARY:${escaped(summary)}`,
    ...(description === '' ? [] : [`DESCRIPTION:${escaped(description)}`]),
    'END:VEVENT',
  ]
}

/** Calendars count in whole seconds: what is due within one is shown at its end, never early. */
function stamp(at: number): string {
  const text = new Date(Math.ceil(at / 1000) * 1000).toISOString()
  return `${text.slice(0, 19).replace(/[-:]/g, '')}Z`
}

function escaped(text: string): string {
  return (
    text
      .replace(/[\\;,]/g, (sign) => `\\${sign}`)
      .replace(/\r\n|\r|\n/g, '\\n')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they have no place in a calendar.
      .replace(/[\u0000-\u001f\u007f]/g, ' ')
  )
}

/** Lines are folded after 75 octets, and never within a character. */
function folded(line: string): string {
  if (encoder.encode(line).length <= LINE_OCTETS_MAX) return line
  let [text, octets] = ['', 0]
  for (const character of line) {
    const size = encoder.encode(character).length
    if (octets + size > LINE_OCTETS_MAX) {
      text += '\r\n '
      octets = 1
    }
    text += character
    octets += size
  }
  return text
}
