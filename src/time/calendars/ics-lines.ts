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

/** Parameters may have any character in quotes. */
const LINE = /^([a-z0-9-]+)((?:;(?:"[^"]*"|[^:;"])*)*):(.*)$/is
const PARAMETER = /;((?:"[^"]*"|[^;"=])*)=?((?:"[^"]*"|[^;"])*)/g

/** Parses an .ics text into lines, and unfolds them. */
export function readIcsLines(text: string): IcsLine[] {
  if (typeof text !== 'string' || text.length > ICS_LENGTH_MAX) {
    throw new WakefulError('ics.too_large', {})
  }
  const lines: { parts: string[]; number: number }[] = []
  const physical = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)
  for (const [index, line] of physical.entries()) {
    const folded = line.startsWith(' ') || line.startsWith('\t')
    if (folded && lines.length > 0) lines.at(-1)!.parts.push(line.slice(1))
    else if (line.trim() !== '') lines.push({ parts: [line], number: index + 1 })
  }
  return lines.map(({ parts, number }) => readLine(parts.join(''), number))
}

function readLine(line: string, number: number): IcsLine {
  const [, name, parameters, value] = LINE.exec(line) ?? []
  if (name === undefined || parameters === undefined || value === undefined) {
    throw new WakefulError('ics.not_a_line', { line: number, text: quote(line) })
  }
  const pairs = [...parameters.matchAll(PARAMETER)].map(([, key, text]): [string, string] => [
    key!.trim().toUpperCase(),
    text!.trim().replace(/^"(.*)"$/, '$1'),
  ])
  return { name: name.toUpperCase(), parameters: new Map(pairs), value, number }
}
