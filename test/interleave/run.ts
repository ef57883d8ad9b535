import { parseArgs } from 'node:util'
import pg from 'pg'
import { startPostgres } from '../postgres/server.ts'
import { explore, follow, scheduleOf } from './explore.ts'
import { scenarios } from './scenarios/index.ts'
import { tryOnce } from './scenario.ts'
import { readSchedule, storyOf } from './story.ts'
import { loadSubject } from './subject.ts'
import { World } from './world.ts'

const { values } = parseArgs({ options: {
  scenario: { type: 'string' }, schedule: { type: 'string' }, preemptions: { type: 'string', default: '1' }, max: {type:'string', default: '100000'},
  show: { type: 'boolean', default: false }, server: { type: 'string' },
}})
const server = await startPostgres()
const world = new World(server.url(), await loadSubject())
await world.open()
let bad = 0
for (const scenario of scenarios) {
  if (values.scenario !== undefined && !scenario.name.includes(values.scenario)) continue
  const began = performance.now()
  let steps = 0
  let deadlocks = 0
  let told = 0
  const { schedules, isWhole } = await explore({ preemptionsMax: Number(values.preemptions), schedulesMax: values.schedule === undefined ? Number(values.max) : 1, seed: 1 }, async (choose) => {
    const tried = await tryOnce(world, scenario, values.schedule === undefined ? choose : follow(readSchedule(values.schedule)))
    steps += tried.ran.steps.length
    deadlocks += tried.ran.deadlocks
    if (tried.breaches.length > 0 || values.show) {
      bad += 1
      if (told++ < 2) console.log(storyOf(scenario, scheduleOf(tried.ran.decisions), world.story, tried.breaches))
    }
    return { decisions: tried.ran.decisions, stop: false }
  })
  const s = (performance.now() - began) / 1000
  console.log(`${scenario.name}: ${schedules} schedules${isWhole ? '' : '+'}, ${steps} steps, ${deadlocks} deadlocks, ${told} bad, ${s.toFixed(1)} s`)
}
await world.close()
await server.stop()
