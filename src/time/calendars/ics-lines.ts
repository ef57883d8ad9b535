import { WakefulError } from '../../error.ts'
import { quote } from '../text/index.ts'

/** A parsed line of an .ics file: NAME;PARAMETER=value:VALUE. */
export interface IcsLine {
  name: string
  parameters: ReadonlyMap<string, string>
  value: string
  /** The line number in the file, from 1; for a folded line, of its first part. */
  number: number
}

/** The longest .ics text accepted. */
const ICS_LENGTH_MAX = 2 * 1024 * 1024

const NAME = /^[A-Za-z0-9-]+$/

/** Parses an .ics text into lines, and unfolds them. */
export function readIcsLines(text: string): IcsLine[] {
  if (typeof text !== 'string' || text.length > ICS_LENGTH_MAX) {
    throw new WakefulError('ics.too_large', {})
  }
  return unfold(text).map(({ line, number }) => readLine(line, number))
}

/** The error for an invalid line of an .ics file. */
export function icsError(number: number, detail: string): WakefulError {
  return new WakefulError('calendar.invalid', {
    name: '',
    detail: `line ${number} of the .ics file: ${detail}`,
  })
}

function unfold(text: string): { line: string; number: number }[] {
  const lines: { parts: string[]; number: number }[] = []
  const physical = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)
  for (const [index, line] of physical.entries()) {
    const folded = line.startsWith(' ') || line.startsWith('\t')
    if (folded && lines.length > 0) lines.at(-1)!.parts.push(line.slice(1))
    else if (line.trim() !== '') lines.push({ parts: [line], number: index + 1 })
  }
  return lines.map(({ parts, number }) => ({ line: parts.join(''), number }))
}

function readLine(line: string, number: number): IcsLine {
  const [head, value] = splitOnce(line, ':')
  const [name, ...parameters] = splitOutsideQuotes(head, ';')
  if (value === undefined || !NAME.test(name!)) {
    throw icsError(number, `${quote(line)} is not NAME:value, as in 'DTSTART;VALUE=DATE:20261225'`)
  }
  return { name: name!.toUpperCase(), parameters: readParameters(parameters), value, number }
}

function readParameters(parameters: string[]): ReadonlyMap<string, string> {
  return new Map(
    parameters.map((parameter) => {
      const [name, value = ''] = splitOnce(parameter, '=')
      return [name.trim().toUpperCase(), value.trim().replace(/^"(.*)"$/, '$1')]
    }),
  )
}

/** Splits at the first such character outside quotes. */
function splitOnce(text: string, mark: string): [string, string?] {
  let quoted = false
  for (let index = 0; index < text.length; index++) {
    if (text[index] === '"') quoted = !quoted
    else if (text[index] === mark && !quoted) return [text.slice(0, index), text.slice(index + 1)]
  }
  return [text]
}

function splitOutsideQuotes(text: string, mark: string): string[] {
  const parts: string[] = []
  for (let rest: string | undefined = text; rest !== undefined; ) {
    const [part, behind] = splitOnce(rest, mark)
    parts.push(part)
    rest = behind
  }
  return parts
}
