import type { Schedule } from './explore.ts'
import type { Breach } from './judge.ts'
import type { Scenario } from './scenario.ts'
import type { Step } from './schedule.ts'

/** A schedule as it is written down: each name with how often it goes in a row. */
function writeSchedule(schedule: Schedule): string {
  const runs: { name: string; count: number }[] = []
  for (const name of schedule) {
    if (runs.at(-1)?.name === name) runs.at(-1)!.count += 1
    else runs.push({ name, count: 1 })
  }
  return runs.map(({ name, count }) => (count === 1 ? name : `${name}*${count}`)).join(',')
}

/** Reads what `writeSchedule` wrote. */
export function readSchedule(text: string): Schedule {
  return text.split(',').flatMap((run) => {
    const [name, count = '1'] = run.split('*')
    return name === '' ? [] : Array<string>(Number(count)).fill(name!)
  })
}

/** What happened, line by line, and which promise it broke. */
export function storyOf(
  scenario: Scenario,
  schedule: Schedule,
  story: readonly Step[],
  breaches: readonly Breach[],
): string {
  const lines = story.map(({ lane, what, outcome }, index) => {
    return `  ${String(index).padStart(3)}  ${lane.padEnd(7)} ${what === '=>' ? '  =>' : what} ${what === '=>' ? '' : '-> '}${outcome}`
  })
  return [
    `${scenario.name}:`,
    ...lines,
    ...breaches.map(({ promise, what }) => `  BROKEN ${promise}: ${what}`),
    `  replay: node test/interleave/run.ts --scenario ${JSON.stringify(scenario.name)} --schedule ${writeSchedule(schedule)}`,
  ].join('\n')
}
