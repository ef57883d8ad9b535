import { expect, it } from 'vitest'
import { type Violation, violation } from '../judge/breach.ts'
import { type Plan, planOf } from './plan.ts'
import { shrink } from './shrink.ts'

const figures = {} as never

/** Shrinks a plan that fails for which `wrongOf` returns a violation. Returns the result and the number of runs. */
async function shrunk(seed: number, wrongOf: (plan: Plan) => Violation[]): Promise<[Plan, runs: number]> {
  let runs = 0
  const play = (plan: Plan) => {
    runs += 1
    return Promise.resolve({ judgement: { violations: wrongOf(plan), figures } })
  }
  return [await shrink(planOf(seed), 'late', { play }), runs]
}

it('leaves nothing of a plan that fails whatever is left out, and terminates', async () => {
  const [plan, runs] = await shrunk(0, () => [violation('late', '')])
  expect(plan).toMatchObject({ alarms: [], faults: [], machines: 1, shards: 1 })
  expect(Object.values(plan.conditions).filter((chance) => chance > 0)).toEqual([])
  expect(runs).toBeLessThan(30)
})

it('keeps what the failure needs, and ignores other failures', async () => {
  const needed = planOf(0).faults[3]!
  const [plan] = await shrunk(0, ({ faults, alarms }) => [
    violation(faults.some(({ at }) => at === needed.at) && alarms.length > 1 ? 'late' : 'early', ''),
  ])
  expect(plan.faults).toEqual([needed])
  expect(plan.alarms).toHaveLength(2)
})
