import {
  type Bounds,
  type Explored,
  explore,
  type Schedule,
  sample,
  scheduleOf,
  type Try,
} from './explore.ts'
import type { Breach } from './judge.ts'
import { PLANTED, type Planted } from './planted.ts'
import { type Scenario, tryOnce } from './scenario.ts'
import { scenarios } from './scenarios/index.ts'
import { storyOf } from './schedule-report.ts'
import { loadSubject } from './subject.ts'
import { loadVariants, variantOf } from './variants.ts'
import { World } from './world.ts'

/** A schedule that broke a promise. */
export interface Failure {
  readonly scenario: Scenario
  readonly schedule: Schedule
  readonly breaches: readonly Breach[]
  readonly story: string
}

/** What the exploration of one scenario came to. */
export interface Figures extends Explored {
  readonly steps: number
  readonly deadlocks: number
  readonly seconds: number
  readonly failures: readonly Failure[]
}

const FAILURES_MAX = 3

/** Explores one scenario: all schedules within the bounds, then some that are drawn. */
export async function exploreScenario(
  world: World,
  scenario: Scenario,
  bounds: Bounds,
  samples = 0,
): Promise<Figures> {
  const began = performance.now()
  const failures: Failure[] = []
  let [steps, deadlocks] = [0, 0]
  const run: Try = async (choose) => {
    const { ran, breaches } = await tryOnce(world, scenario, choose)
    steps += ran.steps.length
    deadlocks += ran.deadlocks
    if (breaches.length > 0) failures.push(failureOf(world, scenario, scheduleOf(ran.decisions), breaches))
    return { decisions: ran.decisions, stop: failures.length >= FAILURES_MAX }
  }
  const { schedules, isWhole } = await explore(bounds, run)
  const drawn =
    failures.length > 0
      ? 0
      : (await sample(bounds.seed, samples, bounds.endAt ?? Number.POSITIVE_INFINITY, run)).schedules
  const seconds = (performance.now() - began) / 1_000
  return { schedules: schedules + drawn, isWhole, steps, deadlocks, seconds, failures }
}

function failureOf(
  world: World,
  scenario: Scenario,
  schedule: Schedule,
  breaches: readonly Breach[],
): Failure {
  return { scenario, schedule, breaches, story: storyOf(scenario, schedule, world.story, breaches) }
}

/** How a planted bug was found. */
export interface Caught {
  readonly planted: Planted
  /** Null where it was not found. */
  readonly by: Failure | null
  /** Schedules that were tried until then. */
  readonly schedules: number
}

/** Looks for a planted bug where it is said to show, a bounded number of schedules. */
async function hunt(url: string, planted: Planted, schedulesMax: number): Promise<Caught> {
  const world = new World(url, await loadSubject(variantOf(planted)))
  await world.open(planted.ddl)
  let schedules = 0
  try {
    for (const name of planted.scenarios) {
      const scenario = scenarios.find((each) => each.name === name)
      if (scenario === undefined) throw new Error(`there is no scenario "${name}"`)
      const found = await firstFailure(world, scenario, schedulesMax - schedules)
      schedules += found.schedules
      if (found.failure !== null) return { planted, by: found.failure, schedules }
    }
    return { planted, by: null, schedules }
  } finally {
    await world.close()
  }
}

async function firstFailure(world: World, scenario: Scenario, schedulesMax: number) {
  let failure: Failure | null = null
  const { schedules } = await explore({ preemptionsMax: 2, schedulesMax, seed: 1 }, async (choose) => {
    const { ran, breaches } = await tryOnce(world, scenario, choose)
    if (breaches.length > 0) failure = failureOf(world, scenario, scheduleOf(ran.decisions), breaches)
    return { decisions: ran.decisions, stop: failure !== null }
  })
  return { failure: failure as Failure | null, schedules }
}

/** Looks for all of them, and tells of each as it is found. */
export async function huntAll(
  url: string,
  only: (planted: Planted) => boolean,
  schedulesMax: number,
  tell: (caught: Caught) => void,
): Promise<Caught[]> {
  loadVariants()
  const all: Caught[] = []
  for (const planted of PLANTED.filter(only)) {
    const caught = await hunt(url, planted, schedulesMax)
    all.push(caught)
    tell(caught)
  }
  return all
}

/** One line of the table: the bug, the promise it breaks, where, and how soon it was found. */
export function rowOf({ planted, by, schedules }: Caught): string {
  const promise =
    by === null ? 'NOT FOUND' : [...new Set(by.breaches.map((breach) => breach.promise))].join(', ')
  return `| ${planted.bug} | ${planted.hazard} | ${promise} | ${by?.scenario.name ?? planted.scenarios[0]} | ${schedules} |`
}
