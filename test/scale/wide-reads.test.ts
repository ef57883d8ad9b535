import { expect, test } from 'vitest'
import { timeWideReads } from './wide-reads.ts'

/** The long form, with a million, is `npm run test:scale -- --store postgres --reads wide`. */
const ROWS = 100_000

test.for(['sqlite', 'postgres'] as const)(
  'reads across owners and tenants find full pages beside many alarms (%s)',
  {
    timeout: 400_000,
  },
  async (store) => {
    const medians = await timeWideReads(store, ROWS, 1, 3)
    console.table(medians)
    expect(Object.keys(medians)).toHaveLength(10)
  },
)
