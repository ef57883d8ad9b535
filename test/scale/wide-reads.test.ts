import { expect, test } from 'vitest'
import { timeWideReads } from './wide-reads.ts'

/** The long form, with a million, is `npm run test:scale -- --store postgres --reads wide`. */
const ROWS = 100_000

test('reads across owners and tenants find full pages beside many alarms (PostgreSQL)', {
  timeout: 400_000,
}, async () => {
  const medians = await timeWideReads(ROWS, 1, 3)
  console.table(medians)
  expect(Object.keys(medians)).toHaveLength(10)
})
