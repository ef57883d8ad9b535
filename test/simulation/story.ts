import type { Errand } from './errand.ts'
import type { Plan } from './plan.ts'
import type { Played } from './play.ts'
import type { Strike } from './strikes.ts'
import type { Timing } from './timing.ts'
import { CALM } from './weather.ts'

/** How much is told around what was wrong. */
const LINES_BEFORE = 80
const LINES_AFTER = 5

/** A run that failed, told so that it can be followed: what was planned, what happened, what was wrong. */
export function storyOf({ plan, world, verdict }: Played, isWhole = false): string {
  const { lines } = world.trace
  const [from, to] = isWhole ? [0, lines.length] : around(lines, verdict.violations[0]?.text ?? '')
  const isPart = to - from < lines.length
  return [
    ...planLines(plan),
    '',
    `what happened${isPart ? ` (lines ${from + 1} to ${to} of ${lines.length}; --trace tells all)` : ''}:`,
    ...lines.slice(from, to).map((line) => `  ${line}`),
    '',
    'what was wrong:',
    ...verdict.violations.slice(0, 20).map(({ promise, breach, text }) => `  ${promise}: ${breach}: ${text}`),
  ].join('\n')
}

/** The lines around the first that name the occurrence, or the alarm, of which a violation tells. */
function around(lines: readonly string[], text: string): [from: number, to: number] {
  const [id] = /[0-9a-f]{8}-[0-9a-f-]{27}(-\d+-\d+)?/.exec(text) ?? []
  const named = id === undefined ? -1 : lines.findIndex((line) => line.includes(id))
  const at = named === -1 ? lines.length : named
  return [Math.max(0, at - LINES_BEFORE), Math.min(lines.length, at + LINES_AFTER)]
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
    fault === 'ambush' || fault === 'stall'
      ? `${statement} ${point}`
      : fault === 'killAt'
        ? `event ${n}`
        : `for ${ms} ms`
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
