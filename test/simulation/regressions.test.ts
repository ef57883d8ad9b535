import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Plan } from './plan.ts'
import { playOn } from './result.ts'

/** Plans of seeds that once failed, shrunk (`npm run sim -- --seed N --save file`); each is named by what was wrong. */
const folder = new URL('./regressions/', import.meta.url)

/** Wherever it was found, it is tried on both stores. */
describe.each(['simulated', 'sqlite'] as const)('what the simulator once found, on the store %s', (store) => {
  it.each(readdirSync(folder))('%s', async (name) => {
    const plan = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Plan
    const { judgement } = await playOn(store, plan)
    expect(judgement.violations).toEqual([])
  })
})
