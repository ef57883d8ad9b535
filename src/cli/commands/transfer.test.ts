import { expect, it } from 'vitest'
import { Rows } from './transfer.ts'

const KEPT = [
  '{"wakeful":"export","version":4,"alarms":2,"events":1}',
  '{"calendar":{}}',
  '{"alarm":{}}',
  '{"alarm":{}}',
  '{"event":{"alarm":"1"}}',
  '{"damaged":{"row":7}}',
  '{"end":true,"alarms":2,"events":1}',
]

it('counts the lines by kind, and returns every line', async () => {
  const rows = new Rows()
  expect(rows.words()).toBe('0 alarms')
  const lines = (async function* () {
    yield* KEPT
  })()
  expect(await Array.fromAsync(rows.counted(lines))).toEqual(KEPT)
  expect(rows.words()).toBe('2 alarms, 1 event, 1 calendar')
  expect(rows.damagedWords('skipped')).toBe('; 1 damaged row skipped')
  expect(JSON.stringify({ lines: rows.lines, rows })).toBe(
    '{"lines":7,"rows":{"alarms":2,"events":1,"calendars":1,"documents":0,"wakes":0}}',
  )
})
