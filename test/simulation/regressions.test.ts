import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Plan } from './plan.ts'
import { playOn } from './result.ts'

/** Shrunk plans of seeds that once failed (`npm run sim -- --seed N --save file`), named by what was wrong. */
const folder = new URL('./regressions/', import.meta.url)

/** Each is run on both stores, wherever it was found. */
describe.each(['simulated', 'sqlite'] as const)('what the simulator once found, on the store %s', (store) => {
  it.each(readdirSync(folder))('%s', async (name) => {
    const plan = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Plan
    const { judgement } = await playOn(store, plan)
    expect(judgement.violations).toEqual([])
  })
})
