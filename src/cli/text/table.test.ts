import { describe, expect, it } from 'vitest'
import { type Column, card, table } from './table.ts'

interface Row {
  id: string
  label: string
  took: string
}

const columns: Column<Row>[] = [
  { title: 'ID', value: (row) => row.id },
  { title: 'LABEL', value: (row) => row.label, cutTo: 8, below: true },
  { title: 'TOOK', value: (row) => row.took, side: 'right', below: true },
]
const rows: Row[] = [
  { id: '0190c3b2', label: 'a rather long label', took: '1s' },
  { id: '0190c3b3', label: '', took: '250ms' },
]

describe('a table', () => {
  it('aligns its columns, and cuts nothing without a terminal', () => {
    expect(table([columns], rows, null)).toEqual({
      titles: ['ID        LABEL                 TOOK'],
      lines: ['0190c3b2  a rather long label     1s', '0190c3b3                       250ms'],
    })
  })

  it('cuts columns to fit the terminal', () => {
    expect(table([columns], rows, 28).lines).toEqual([
      '0190c3b2  a rather l…     1s',
      '0190c3b3               250ms',
    ])
  })

  it('moves columns to a second line if needed, and never cuts an id', () => {
    expect(table([columns], rows, 20)).toEqual({
      titles: ['ID', '  LABEL         TOOK'],
      lines: ['0190c3b2', '  a rather l…     1s', '0190c3b3', '               250ms'],
    })
  })

  it('omits empty columns', () => {
    expect(table([columns], [{ id: 'x', label: '', took: '' }], 80)).toEqual({ titles: ['ID'], lines: ['x'] })
  })
})

it('prints names with values, without empty ones', () => {
  const fields = [
    ['id', 'x'],
    ['key', ''],
    ['notes', 'one\ntwo'],
  ] as const
  expect(card(fields)).toEqual(['id     x', 'notes  one\n       two'])
  expect(card([['id', 'one two three']], 11)).toEqual(['id  one two\n    three'])
})
