/** An entry of a calendar, which may be there several times. */
export interface CalendarEntry {
  readonly id: string
  /** When its alarm was last changed. */
  readonly changedAt: number
  readonly summary: string
  readonly description: string
}

const LINE_OCTETS_MAX = 75

/** A calendar (RFC 5545) of these entries. */
export function icsText(name: string, entries: readonly string[]): string {
  const head = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Wakeful//alarms//EN',
    'CALSCALE:GREGORIAN',
    'METHOD:PUBLISH',
    `X-WR-CALNAME:${escaped(name)}`,
    'REFRESH-INTERVAL;VALUE=DURATION:PT15M',
    'X-PUBLISHED-TTL:PT15M',
  ]
  return `${lines(head)}${entries.join('')}END:VCALENDAR\r\n`
}

/** The entries of one alarm, one for each instant. */
export function entryTexts(entry: CalendarEntry, instants: readonly number[]): string[] {
  const { id, changedAt, summary, description } = entry
  const same = lines([
    `DTSTAMP:${stamp(changedAt)}`,
    'DURATION:PT0S',
    'TRANSP:TRANSPARENT',
    `SUMMARY:${escaped(summary)}`,
    ...(description === '' ? [] : [`DESCRIPTION:${escaped(description)}`]),
    'END:VEVENT',
  ])
  return instants.map(
    (at) => lines(['BEGIN:VEVENT', `UID:${escaped(`${id}-${at}@wakeful`)}`, `DTSTART:${stamp(at)}`]) + same,
  )
}

function lines(all: readonly string[]): string {
  return all.map((line) => `${folded(line)}\r\n`).join('')
}

/** Calendars have whole seconds: an instant is rounded up, so that it is never early. */
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
  let [text, from, octets] = ['', 0, 0]
  for (let at = 0; at < line.length; ) {
    const code = line.codePointAt(at)!
    const size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
    if (octets + size > LINE_OCTETS_MAX) {
      text += `${line.slice(from, at)}\r\n `
      from = at
      octets = 1
    }
    octets += size
    at += size === 4 ? 2 : 1
  }
  return text + line.slice(from)
}
