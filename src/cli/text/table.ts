import { cut, pad, textWidth, wrap } from './text-width.ts'

/** A column of a table. */
export interface Column<Row> {
  readonly title: string
  readonly value: (row: Row) => string
  readonly side?: 'left' | 'right'
  /** The smallest width to which a narrow terminal may cut it. */
  readonly cutTo?: number
  /** Moves to a second, indented line if a row does not fit on one. */
  readonly below?: boolean
}

/** The texts of a column, title first, and its widths. */
interface Cells {
  readonly texts: readonly string[]
  readonly side: 'left' | 'right'
  readonly natural: number
  readonly least: number
  readonly below: boolean
}

const GAP = '  '

/**
 * Rows as aligned lines, with the first set of columns that fits on one line, after cutting. A width of null, for output
 * that is not a terminal, cuts nothing.
 */
export function table<Row>(
  sets: readonly (readonly Column<Row>[])[],
  rows: readonly Row[],
  width: number | null,
): { titles: string[]; lines: string[] } {
  const all = sets.map((columns) => cellsOf(columns, rows))
  const fitting = all.find((cells) => width === null || total(cells.map(({ least }) => least)) <= width)
  const narrow = all.at(-1)!
  const groups = fitting
    ? [fitting]
    : [narrow.filter(({ below }) => !below), narrow.filter(({ below }) => below)]
  const blocks = groups
    .filter((group) => group.length > 0)
    .map((group, index) => renderedLines(group, index === 0 ? '' : GAP, width))
  const linesOf = (row: number) =>
    blocks.map((lines) => lines[row]!).filter((line, index) => index === 0 || line !== '')
  return { titles: linesOf(0), lines: rows.flatMap((_, index) => linesOf(index + 1)) }
}

/** Names with their values, one per line, aligned and wrapped at the width. Empty values are left out. */
export function card(
  fields: readonly (readonly [name: string, value: string])[],
  width: number | null = null,
): string[] {
  const present = fields.filter(([, value]) => value !== '')
  const nameWidth = Math.max(0, ...present.map(([name]) => name.length))
  const indent = ' '.repeat(nameWidth) + GAP
  const valueWidth = width === null ? null : width - indent.length
  return present.map(([name, value]) => {
    const lines = value.split('\n').flatMap((line) => wrap(line, valueWidth, '').split('\n'))
    return `${name.padEnd(nameWidth)}${GAP}${lines.join(`\n${indent}`)}`
  })
}

/** The cells of the columns that have any text below their title. */
function cellsOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): Cells[] {
  const cells = columns.map(({ title, value, side = 'left', cutTo, below = false }) => {
    const texts = [title, ...rows.map((row) => value(row))]
    const natural = texts.reduce((widest, text) => Math.max(widest, textWidth(text)), 0)
    return { texts, side, natural, least: Math.min(natural, cutTo ?? natural), below }
  })
  return cells.filter(({ texts }) => texts.slice(1).some((text) => text !== ''))
}

function renderedLines(columns: readonly Cells[], indent: string, width: number | null): string[] {
  const widths = widthsOf(columns, width === null ? null : width - indent.length)
  return columns[0]!.texts.map((_, row) => {
    const cells = columns.map(({ texts, side }, at) => pad(cut(texts[row]!, widths[at]!), widths[at]!, side))
    const line = cells.join(GAP).trimEnd()
    return line === '' ? '' : indent + line
  })
}

/** The widths of the columns: the widest that may be cut shrinks, one character at a time, until the line fits. */
function widthsOf(columns: readonly Cells[], width: number | null): number[] {
  const widths = columns.map((column) => column.natural)
  while (width !== null && total(widths) > width) {
    let widest = -1
    for (const [at, column] of columns.entries()) {
      if (widths[at]! > column.least && widths[at]! > (widths[widest] ?? 0)) widest = at
    }
    if (widest === -1) break
    widths[widest]!--
  }
  return widths
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, each) => sum + each, 0) + GAP.length * Math.max(0, widths.length - 1)
}
