import { expect, it } from 'vitest'
import { noLines } from '../../hosts/node/index.ts'
import { countsText, damagedText } from './transfer.ts'

it('names the kinds of lines that there are, and always alarms', () => {
  expect(countsText(noLines())).toBe('0 alarms')
  const counts = { ...noLines(), wakeful: 1, calendar: 1, alarm: 2, event: 1, damaged: 1, end: 1 }
  expect(countsText(counts)).toBe('2 alarms, 1 event, 1 calendar')
  expect(damagedText(counts, 'skipped')).toBe('; 1 damaged row skipped')
  expect(damagedText(noLines(), 'skipped')).toBe('')
})
