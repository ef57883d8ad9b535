import { startPostgres } from '../postgres/server.ts'
import { readOptions } from '../script-options.ts'
import { exploreScenario, type Figures, huntAll, rowOf } from './campaign.ts'
import { follow, scheduleOf } from './explore.ts'
import { type Scenario, tryOnce } from './scenario.ts'
import { scenarios } from './scenarios/index.ts'
import { readSchedule, scheduleReport } from './schedule-report.ts'
import { loadSubject } from './subject.ts'
import { World } from './world.ts'

const USAGE = `Tries every order of the statements of two or three callers within bounds, then hunts the planted bugs.

  npm run test:interleave -- [--scenario TEXT] [--actors 2|3] [--preemptions 2] [--of-three 1] [--max 1500]
    [--samples 50] [--seed 1] [--planted | --clean] [--bug TEXT]… [--server URL]
  npm run test:interleave -- --scenario TEXT --schedule ORDER

--scenario and --bug select by part of a name; --actors selects scenarios with 2 or 3 callers. --preemptions bounds the
switches of two callers, --of-three those of three. --max bounds the orders of a scenario; --samples adds random ones, by
--seed. --planted hunts the planted bugs only; --clean leaves them out. --schedule replays one order. --server uses an
existing database.`

const values = readOptions(USAGE, {
  scenario: { type: 'string', default: '' },
  actors: { type: 'string' },
  schedule: { type: 'string' },
  preemptions: { type: 'string', default: '2' },
  'of-three': { type: 'string', default: '1' },
  max: { type: 'string', default: '1500' },
  samples: { type: 'string', default: '50' },
  seed: { type: 'string', default: '1' },
  planted: { type: 'boolean', default: false },
  clean: { type: 'boolean', default: false },
  bug: { type: 'string', multiple: true, default: [''] },
  server: { type: 'string' },
})
const PLANTED_SCHEDULES_MAX = 500

const server = values.server === undefined ? await startPostgres() : null
const url = values.server ?? server!.url()
// Stop the server even if this process ends early.
const end = async (code: number) => {
  await server?.stop()
  process.exit(code)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end(130))
process.once('uncaughtException', (thrown) => {
  console.error(thrown)
  void end(1)
})
try {
  const isWell = values.schedule === undefined ? await campaign() : await replay(values.schedule)
  process.exitCode = isWell ? 0 : 1
} finally {
  await server?.stop()
}

async function campaign(): Promise<boolean> {
  const isClean = values.planted || (await exploreAll())
  const areFound = values.clean || values.schedule !== undefined || (await plantedAreFound())
  return isClean && areFound
}

function chosen(): Scenario[] {
  return scenarios.filter(({ name, hasThreeActors = false }) => {
    const isCounted = values.actors === undefined || values.actors === (hasThreeActors ? '3' : '2')
    return isCounted && name.includes(values.scenario)
  })
}

async function exploreAll(): Promise<boolean> {
  const world = new World(url, await loadSubject())
  await world.open()
  const all: Figures[] = []
  try {
    for (const [index, scenario] of chosen().entries()) {
      progress(`${index + 1}/${chosen().length} ${scenario.name} …`)
      const figures = await exploreScenario(
        world,
        scenario,
        {
          preemptionsMax: Number(scenario.hasThreeActors === true ? values['of-three'] : values.preemptions),
          schedulesMax: Number(values.max),
          seed: Number(values.seed),
        },
        Number(values.samples),
      )
      all.push(figures)
      progress('')
      console.log(`${scenario.name}: ${summary(figures)}`)
      for (const { report } of figures.failures) console.log(report)
    }
  } finally {
    await world.close()
  }
  const sum = (of: (figures: Figures) => number) => all.reduce((total, each) => total + of(each), 0)
  console.log(
    `${all.length} scenarios, ${sum((each) => each.schedules)} schedules, ${sum((each) => each.steps)} steps, ${sum((each) => each.failures.length)} failures, ${sum((each) => each.seconds).toFixed(0)} s`,
  )
  return all.every(({ failures }) => failures.length === 0)
}

function summary({ schedules, isWhole, steps, deadlocks, seconds, failures }: Figures): string {
  const kind = isWhole ? 'all within the bound' : 'bounded'
  const waits = deadlocks > 0 ? `, ${deadlocks} deadlocks` : ''
  return `${schedules} schedules (${kind}), ${steps} steps${waits}, ${failures.length} failures, ${seconds.toFixed(1)} s`
}

async function plantedAreFound(): Promise<boolean> {
  console.log('| planted bug | promise | scenario | schedules until found |\n|---|---|---|---|')
  const all = await huntAll(
    url,
    ({ bug }) => values.bug.some((part) => bug.includes(part)),
    PLANTED_SCHEDULES_MAX,
    (caught) => console.log(rowOf(caught)),
  )
  const found = all.filter(({ by }) => by !== null).length
  console.log(`${found} of ${all.length} planted bugs were found`)
  return found === all.length
}

async function replay(schedule: string): Promise<boolean> {
  const world = new World(url, await loadSubject())
  await world.open()
  try {
    const scenario = scenarios.find(({ name }) => name === values.scenario) ?? chosen()[0]!
    const { ran, breaches } = await tryOnce(world, scenario, follow(readSchedule(schedule)))
    console.log(scheduleReport(scenario, scheduleOf(ran.decisions), world.trace, breaches))
    return breaches.length === 0
  } finally {
    await world.close()
  }
}

/** A progress line that is overwritten. */
function progress(text: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r\u001b[K${text}`)
}
