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
import { scheduleReport } from './schedule-report.ts'
import { loadSubject } from './subject.ts'
import { loadVariants, variantOf } from './variants.ts'
import { World } from './world.ts'

/** A schedule that broke a promise. */
export interface Failure {
  readonly scenario: Scenario
  readonly schedule: Schedule
  readonly breaches: readonly Breach[]
  readonly report: string
}

/** The result of exploring one scenario. */
export interface Figures extends Explored {
  readonly steps: number
  readonly deadlocks: number
  readonly seconds: number
  readonly failures: readonly Failure[]
}

const FAILURES_MAX = 3

/** Explores one scenario: all schedules within the bounds, then some random ones. */
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
  return { scenario, schedule, breaches, report: scheduleReport(scenario, schedule, world.trace, breaches) }
}

/** The result of hunting a planted bug. */
export interface Caught {
  readonly planted: Planted
  /** Null if it was not found. */
  readonly by: Failure | null
  /** The number of schedules tried. */
  readonly schedules: number
}

/** Hunts a planted bug in its scenarios, with a limited number of schedules. */
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

/** Hunts all planted bugs and reports each result. */
export async function huntAll(
  url: string,
  only: (planted: Planted) => boolean,
  schedulesMax: number,
  onCaught: (caught: Caught) => void,
): Promise<Caught[]> {
  loadVariants()
  const all: Caught[] = []
  for (const planted of PLANTED.filter(only)) {
    const caught = await hunt(url, planted, schedulesMax)
    all.push(caught)
    onCaught(caught)
  }
  return all
}

/** A row of the table: the bug, the broken promise, the scenario, and the number of schedules. */
export function rowOf({ planted, by, schedules }: Caught): string {
  const promise =
    by === null ? 'NOT FOUND' : [...new Set(by.breaches.map((breach) => breach.promise))].join(', ')
  return `| ${planted.bug} | ${promise} | ${by?.scenario.name ?? planted.scenarios[0]} | ${schedules} |`
}
