import type { Schedule } from './explore.ts'
import type { Breach } from './judge.ts'
import type { Scenario } from './scenario.ts'
import type { Step } from './schedule.ts'

/** Writes a schedule: each name with how often it goes in a row. */
function writeSchedule(schedule: Schedule): string {
  const runs: { name: string; count: number }[] = []
  for (const name of schedule) {
    if (runs.at(-1)?.name === name) runs.at(-1)!.count += 1
    else runs.push({ name, count: 1 })
  }
  return runs.map(({ name, count }) => (count === 1 ? name : `${name}*${count}`)).join(',')
}

/** Parses what `writeSchedule` wrote. */
export function readSchedule(text: string): Schedule {
  return text.split(',').flatMap((run) => {
    const [name, count = '1'] = run.split('*')
    return name === '' ? [] : Array<string>(Number(count)).fill(name!)
  })
}

/** The trace of a schedule, line by line, and the promises it broke. */
export function scheduleReport(
  scenario: Scenario,
  schedule: Schedule,
  trace: readonly Step[],
  breaches: readonly Breach[],
): string {
  const lines = trace.map(({ connection, what, outcome }, index) => {
    return `  ${String(index).padStart(3)}  ${connection.padEnd(7)} ${what === '=>' ? '  =>' : what} ${what === '=>' ? '' : '-> '}${outcome}`
  })
  return [
    `${scenario.name}:`,
    ...lines,
    ...breaches.map(({ promise, what }) => `  BROKEN ${promise}: ${what}`),
    `  replay: node test/interleave/run.ts --scenario ${JSON.stringify(scenario.name)} --schedule ${writeSchedule(schedule)}`,
  ].join('\n')
}
