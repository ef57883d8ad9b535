import type { Errand } from './errand.ts'
import type { Plan } from './plan.ts'
import type { Played } from './play.ts'
import type { Strike } from './strikes.ts'
import type { Timing } from './timing.ts'
import { CALM } from './weather.ts'

const LINES_MAX = 400

/** A run that failed, told so that it can be followed: what was planned, what happened, what was wrong. */
export function storyOf({ plan, world, verdict }: Played, isWhole = false): string {
  const lines = world.trace.lines
  const told = isWhole ? lines : lines.slice(-LINES_MAX)
  return [
    ...planLines(plan),
    '',
    `what happened${told.length < lines.length ? ` (the last ${LINES_MAX} of ${lines.length} lines; --trace tells all)` : ''}:`,
    ...told.map((line) => `  ${line}`),
    '',
    'what was wrong:',
    ...verdict.violations.slice(0, 20).map(({ promise, breach, text }) => `  ${promise}: ${breach}: ${text}`),
  ].join('\n')
}

function planLines(plan: Plan): string[] {
  const { seed, kind, machines, shards, errands, strikes, weather, calmMs } = plan
  const bad = Object.entries(weather).filter(([name, chance]) => chance !== CALM[name as keyof typeof CALM])
  const weatherText = bad.map(([name, chance]) => `${name} ${(chance * 100).toFixed(1)} %`).join(', ')
  return [
    `seed ${seed}, a ${kind}: ${machines} processes, ${shards} shards; calm from ${seconds(calmMs)} on`,
    `weather: ${weatherText || 'good'}`,
    ...errands.flatMap(errandLines),
    ...strikes.map(strikeLine),
  ]
}

function errandLines(errand: Errand): string[] {
  const { name, atMs, how, timing, isKeyed, task, moves } = errand
  const faults = [
    task.failures > 0 && `fails ${task.failures} times`,
    task.hangs && 'hangs at first',
    isKeyed && 'by key',
  ].filter((text) => text !== false)
  return [
    `  ${seconds(atMs)} a user sets alarm ${name} (${[how, ...faults].join(', ')}) ${timingText(timing)}`,
    ...moves.map(
      (move) =>
        `  ${seconds(move.atMs)} ${move.on ? `(at the next ${move.on.statement} ${move.on.point}) ` : ''}and does: ${move.kind}${move.timing ? ` ${timingText(move.timing)}` : ''}`,
    ),
  ]
}

function strikeLine({ at, fault, machine, ms, statement, point, n }: Strike): string {
  const how =
    fault === 'ambush' ? `${statement} ${point}` : fault === 'killAt' ? `event ${n}` : `for ${ms} ms`
  return `  ${seconds(at)} ${fault} machine ${machine} ${how}`
}

function timingText(timing: Timing): string {
  if (timing.kind === 'once') return `at ${seconds(timing.atMs)}`
  if (timing.kind === 'cron') return `${timing.rrule ?? timing.cron} in ${timing.timezone}`
  return `every ${timing.everyMs} ms from ${seconds(timing.startMs)}${timing.count ? `, ${timing.count} times` : ''}`
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(3)} s`
}
