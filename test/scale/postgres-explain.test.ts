import { expect, test } from 'vitest'
import { explain } from './postgres-explain.ts'

/** The long form, with a million, is `npm run test:scale -- --store postgres`. */
const ROWS = 100_000

test('no statement reads, sorts or touches more with more alarms (PostgreSQL)', {
  timeout: 400_000,
}, async () => {
  const { fillMs, most, wrong } = await explain(ROWS)
  console.log(`filled in ${Math.round(fillMs)} ms; ${Object.keys(most).length} statements explained`)
  expect(wrong).toEqual([])
})
