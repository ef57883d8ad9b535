import { cut, pad, textWidth, wrap } from './text-width.ts'

/** A column of a table. */
export interface Column<Row> {
  readonly title: string
  readonly value: (row: Row) => string
  readonly side?: 'left' | 'right'
  /** May be cut down to this many characters where the terminal is narrow. */
  readonly cutTo?: number
  /** Goes to a second, indented line where one line does not hold the whole row. */
  readonly below?: boolean
}

/** A column with its texts, title first. */
interface Strip {
  readonly texts: readonly string[]
  readonly side: 'left' | 'right'
  readonly natural: number
  readonly least: number
  readonly below: boolean
}

const GAP = '  '

/** Whether every row has room on one line of this width, what may be cut cut. */
export function fits<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number): boolean {
  return total(stripsOf(columns, rows).map((strip) => strip.least)) <= width
}

/** Rows as aligned lines, titles first; a width of null cuts nothing (the output is not a terminal). */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number | null,
): { titles: string[]; lines: string[] } {
  const strips = stripsOf(columns, rows)
  const groups =
    width === null || fits(columns, rows, width)
      ? [strips]
      : [strips.filter((strip) => !strip.below), strips.filter((strip) => strip.below)]
  const blocks = groups
    .filter((group) => group.length > 0)
    .map((group, index) => renderedLines(group, index === 0 ? '' : GAP, width))
  const shown = (row: number) =>
    blocks.map((lines) => lines[row]!).filter((line, index) => index === 0 || line !== '')
  return { titles: shown(0), lines: rows.flatMap((_, index) => shown(index + 1)) }
}

/** Names with their values, one to a line, the values aligned and broken at the width; empty ones are left out. */
export function card(
  fields: readonly (readonly [name: string, value: string])[],
  width: number | null = null,
): string[] {
  const shown = fields.filter(([, value]) => value !== '')
  const nameWidth = Math.max(0, ...shown.map(([name]) => name.length))
  const indent = ' '.repeat(nameWidth) + GAP
  const room = width === null ? null : width - indent.length
  return shown.map(([name, value]) => {
    const lines = value.split('\n').flatMap((line) => wrap(line, room, '').split('\n'))
    return `${name.padEnd(nameWidth)}${GAP}${lines.join(`\n${indent}`)}`
  })
}

function stripsOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): Strip[] {
  return columns.map((column) => stripOf(column, rows)).filter(hasContent)
}

function stripOf<Row>(column: Column<Row>, rows: readonly Row[]): Strip {
  const texts = [column.title, ...rows.map((row) => column.value(row))]
  const natural = texts.reduce((widest, text) => Math.max(widest, textWidth(text)), 0)
  const least = Math.min(natural, column.cutTo ?? natural)
  return { texts, side: column.side ?? 'left', natural, least, below: column.below === true }
}

/** A column with nothing under its title says nothing. */
function hasContent(strip: Strip): boolean {
  return strip.texts.slice(1).some((text) => text !== '')
}

function renderedLines(strips: readonly Strip[], indent: string, width: number | null): string[] {
  const widths = widthsOf(strips, width === null ? null : width - indent.length)
  return strips[0]!.texts.map((_, row) => {
    const cells = strips.map(({ texts, side }, at) => pad(cut(texts[row]!, widths[at]!), widths[at]!, side))
    const line = cells.join(GAP).trimEnd()
    return line === '' ? '' : indent + line
  })
}

/** The widest column that may be cut gives way first, one character at a time, until the line fits. */
function widthsOf(strips: readonly Strip[], room: number | null): number[] {
  const widths = strips.map((strip) => strip.natural)
  while (room !== null && total(widths) > room) {
    let widest = -1
    for (const [at, strip] of strips.entries()) {
      if (widths[at]! > strip.least && widths[at]! > (widths[widest] ?? 0)) widest = at
    }
    if (widest === -1) break
    widths[widest]!--
  }
  return widths
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, each) => sum + each, 0) + GAP.length * Math.max(0, widths.length - 1)
}
