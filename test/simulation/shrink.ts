import type { Breach } from '../judge/breach.ts'
import { type Conditions, NORMAL } from './conditions.ts'
import type { Plan } from './plan.ts'
import type { Played } from './play.ts'

/** How to shrink a plan. */
export interface ShrinkOptions {
  /** Runs a plan. */
  readonly play: (plan: Plan) => Promise<Pick<Played, 'judgement'>>
  /** The largest number of runs. */
  readonly runsMax?: number
  readonly onProgress?: (plan: Plan, runs: number) => void
}

const RUNS_MAX = 400

/** Leaves out whatever a failing plan does not need to fail in the same way, until nothing more can be left out. */
export async function shrink(failing: Plan, breach: Breach, options: ShrinkOptions): Promise<Plan> {
  const { play, runsMax = RUNS_MAX, onProgress } = options
  let [plan, runs] = [failing, 0]
  const attempt = async (shorter: Plan): Promise<boolean> => {
    if (runs >= runsMax) return false
    runs += 1
    const { judgement } = await play(shorter)
    if (!judgement.violations.some((violation) => violation.breach === breach)) return false
    plan = shorter
    onProgress?.(plan, runs)
    return true
  }
  for (let before = ''; before !== JSON.stringify(plan) && runs < runsMax; ) {
    before = JSON.stringify(plan)
    await without(
      () => plan.faults,
      (faults) => attempt({ ...plan, faults }),
    )
    await without(
      () => plan.alarms,
      (alarms) => attempt({ ...plan, alarms }),
    )
    for (const shorter of simpler(plan)) await attempt(shorter(plan))
    for (const { name } of plan.alarms) await withoutEdits(() => plan, name, attempt)
  }
  return plan
}

/** Tries to remove larger parts of a list first, then smaller ones (delta debugging). */
async function without<T>(
  list: () => readonly T[],
  attempt: (rest: readonly T[]) => Promise<boolean>,
): Promise<void> {
  for (let size = Math.ceil(list().length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < list().length; ) {
      const isLess = await attempt([...list().slice(0, from), ...list().slice(from + size)])
      if (!isLess) from += size
    }
  }
}

function withoutEdits(
  plan: () => Plan,
  name: string,
  attempt: (shorter: Plan) => Promise<boolean>,
): Promise<void> {
  const editsOf = () => plan().alarms.find((alarmPlan) => alarmPlan.name === name)!.edits
  return without(editsOf, (edits) => {
    const alarms = plan().alarms.map((alarmPlan) =>
      alarmPlan.name === name ? { ...alarmPlan, edits } : alarmPlan,
    )
    return attempt({ ...plan(), alarms })
  })
}

/** Simpler plans: better network conditions, fewer machines, fewer shards. */
function simpler(plan: Plan): ((plan: Plan) => Plan)[] {
  const ways: ((plan: Plan) => Plan)[] = []
  const faults = Object.keys(plan.conditions) as (keyof Conditions)[]
  // Normal conditions include some slowness. A plan with less must not be made worse.
  if (faults.some((fault) => (plan.conditions[fault] ?? 0) > (NORMAL[fault] ?? 0)))
    ways.push((each) => ({ ...each, conditions: NORMAL }))
  for (const fault of faults)
    if ((plan.conditions[fault] ?? 0) > 0)
      ways.push((each) => ({ ...each, conditions: { ...each.conditions, [fault]: 0 } }))
  for (const machines of [1, 2, 3]) if (machines < plan.machines) ways.push((each) => ({ ...each, machines }))
  for (const shards of [1, 4]) if (shards < plan.shards) ways.push((each) => ({ ...each, shards }))
  return ways
}
