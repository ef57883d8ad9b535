import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testDatabase } from '../postgres/database.ts'
import { exploreScenario } from './campaign.ts'
import { follow } from './explore.ts'
import { regressions } from './regressions.ts'
import { tryOnce } from './scenario.ts'
import { scenarios } from './scenarios/index.ts'
import { readSchedule, scheduleReport } from './schedule-report.ts'
import { loadSubject } from './subject.ts'
import { World } from './world.ts'

/** The long form is `npm run test:interleave`. */
const SCHEDULES = 6
/** One in this many pairs of operations is drawn, because there are hundreds. */
const PAIRS_DRAWN = 16
/**
 * After this time, on a busy machine, the remaining scenarios run only in both serial orders, which may be the same.
 */
const BUDGET_MS = 15_000
/** One bug of each kind. The long form hunts all. */
const HUNTED = ['(FOR KEY SHARE dropped)', 'in one statement', 'as soon as its settle answers']
const seed = Number(process.env.INTERLEAVE_SEED ?? Date.now() % 1_000_000)

const drawn = scenarios.filter(({ isPair = false }, index) => !isPair || (index + seed) % PAIRS_DRAWN === 0)

const { url } = testDatabase()
let world: World
let began = 0

beforeAll(async () => {
  console.log(`INTERLEAVE_SEED=${seed}`)
  world = new World(url, await loadSubject())
  await world.open()
  began = performance.now()
})
afterAll(() => world.close())

describe('keeps every promise whatever the order of statements (fenced, cancel-wins, recorded-once, at-least-once)', () => {
  test.for(drawn)('$name', async (scenario) => {
    const schedulesMax = performance.now() - began < BUDGET_MS ? SCHEDULES : 2
    const bounds = { preemptionsMax: 2, schedulesMax, seed }
    const { failures, schedules } = await exploreScenario(world, scenario, bounds)
    expect(failures.map(({ report }) => report).join('\n')).toBe('')
    expect(schedules).toBeGreaterThan(schedulesMax === SCHEDULES ? 1 : 0)
  })
})

describe('keeps the promise that this schedule once broke', () => {
  test.for(regressions)('$name', async ({ scenario: name, schedule }) => {
    const scenario = scenarios.find((each) => each.name === name)!
    const { breaches } = await tryOnce(world, scenario, follow(readSchedule(schedule)))
    expect(breaches, scheduleReport(scenario, readSchedule(schedule), world.trace, breaches)).toEqual([])
  })
})

test('finds bugs that are really there', { timeout: 60_000 }, () => {
  const run = fileURLToPath(new URL('run.ts', import.meta.url))
  const bugs = HUNTED.flatMap((bug) => ['--bug', bug])
  const { stdout, stderr } = spawnSync(process.execPath, [run, '--planted', ...bugs, '--server', url], {
    encoding: 'utf8',
  })
  expect(`${stdout}${stderr}`).toContain(`${HUNTED.length} of ${HUNTED.length} planted bugs were found`)
})
