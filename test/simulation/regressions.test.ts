import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Plan } from './plan.ts'
import { play } from './play.ts'

/** Plans of seeds that once failed, shrunk (`npm run sim -- --seed N --save file`); each is named by what was wrong. */
const folder = new URL('./regressions/', import.meta.url)

describe('what the simulator once found', () => {
  it.each(readdirSync(folder))('%s', async (name) => {
    const plan = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Plan
    const { verdict } = await play(plan)
    expect(verdict.violations).toEqual([])
  })
})
