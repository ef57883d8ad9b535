import { parseInstant } from '../../src/time/index.ts'
import type { Evidence, LogRecord } from '../judge/evidence.ts'
import type { AlarmPlan } from './alarm-plan.ts'
import { NORMAL } from './conditions.ts'
import type { Plan } from './plan.ts'
import type { PlannedFault } from './planned-faults.ts'
import type { Played } from './play.ts'
import type { Timing } from './timing.ts'
import { START } from './world.ts'

/** Shorter traces are printed whole. Of longer ones, only the lines up to the last one about the violation. */
const LINES_WHOLE = 250
const LINES_BEFORE = 80
const LINES_AFTER = 10
const WRONGS_MAX = 20
const RECORDS_MAX = 60
/** Faults without a duration. */
const MOMENTARY: ReadonlySet<PlannedFault['fault']> = new Set(['kill', 'close', 'join', 'leave'])

/** The id of an alarm, or of an occurrence, which adds a generation and an instant. */
const ID = /([0-9a-f]{8}-[0-9a-f-]{27})(?:-(\d+)-(\d+))?/
const IDS = new RegExp(ID, 'g')

/**
 * Describes a run: the plan, the trace, the log of the alarms with violations, and the violations. Times are seconds
 * since the world began, and alarms have the names of the plan.
 */
export function runReport({ plan, world, evidence, judgement }: Played, isWhole = false): string {
  const { lines } = world.trace
  const { violations } = judgement
  const wrong = violations
    .slice(0, WRONGS_MAX)
    .map(({ promise, breach, text }) => `${promise}: ${breach}: ${text}`)
  const [from, to] = isWhole || lines.length <= LINES_WHOLE ? [0, lines.length] : around(lines, wrong)
  const isPart = to - from < lines.length
  const inWords = wordsOf(evidence)
  return [
    ...planLines(plan),
    '',
    `trace${isPart ? ` (lines ${from + 1} to ${to} of ${lines.length}; use --trace for all)` : ''}:`,
    ...lines
      .slice(from, to)
      .map((line) => `  ${inWords(line.replace(/^[\d.]+/, (ms) => seconds(Number(ms))))}`),
    ...(wrong.length === 0 ? [] : ['', 'log of these alarms:', ...logOf(evidence, wrong).map(inWords)]),
    ...(wrong.length === 0 ? [] : ['', 'violations:', ...wrong.map((each) => `  ${inWords(each)}`)]),
  ].join('\n')
}

/** The lines up to the last one that names the occurrence or alarm of the first violation. */
function around(lines: readonly string[], [first = '']: readonly string[]): [from: number, to: number] {
  const [id] = ID.exec(first) ?? []
  const named = id === undefined ? -1 : lines.findLastIndex((line) => line.includes(id))
  const at = named === -1 ? lines.length : named
  return [Math.max(0, at - LINES_BEFORE), Math.min(lines.length, at + LINES_AFTER)]
}

/** The last log records of the alarms named in these texts. */
function logOf({ log }: Evidence, texts: readonly string[]): string[] {
  const alarmIds = new Set(texts.map((text) => ID.exec(text)?.[1]))
  return log
    .filter(({ alarmId }) => alarmIds.has(alarmId))
    .slice(-RECORDS_MAX)
    .map(recordLine)
}

function recordLine({ at, occurrenceId, type, skippedTo, reason, retryAt }: LogRecord): string {
  const skipped = skippedTo === undefined ? '' : ` up to ${skippedTo}: ${reason}`
  return `  ${at} ${occurrenceId} ${type}${skipped}${retryAt === undefined ? '' : `, again at ${retryAt}`}`
}

/** Replaces ids, times and runs by the names used in the plan and the trace. */
function wordsOf({ entries }: Evidence): (text: string) => string {
  const began = parseInstant(START)
  const alarms = new Map<string, string>()
  const processes = new Map<string, string>()
  for (const entry of entries) {
    if (entry.type === 'set' || entry.type === 'start') alarms.set(entry.alarmId, entry.name.split('.')[0]!)
    if (entry.type === 'start') processes.set(String(entry.run), entry.process!)
  }
  const nameOf = (id: string, alarmId: string, generation?: string, instant?: string) => {
    const name = alarms.get(alarmId)
    if (name === undefined) return id
    const moved = generation === '1' ? '' : `, generation ${generation}`
    return `alarm ${name}${instant === undefined ? '' : ` (for ${instant}${moved})`}`
  }
  return (text) =>
    text
      .replace(IDS, nameOf)
      .replace(/(\b\d+) \(alarm \1\)/g, 'alarm $1')
      .replace(/\b\d{13}\b/g, (ms) => seconds(Number(ms) - began))
      .replace(/\brun (\d+)/g, (run, number: string) => processes.get(number) ?? run)
}

function planLines(plan: Plan): string[] {
  const { seed, kind, machines, shards, alarms, faults, conditions, calmMs } = plan
  const bad = Object.entries(conditions).filter(
    ([name, chance]) => chance > (NORMAL[name as keyof typeof NORMAL] ?? 0),
  )
  const conditionsText = bad.map(([name, chance]) => `${name} ${(chance * 100).toFixed(1)} %`).join(', ')
  return [
    `seed ${seed}, a ${kind}: ${counted(machines, 'process', 'processes')}, ${counted(shards, 'shard', 'shards')}; calm from ${seconds(calmMs)} on`,
    `network faults: ${conditionsText || 'none'}`,
    ...alarms.flatMap(alarmLines),
    ...faults.map(faultLine),
  ]
}

function alarmLines({ name, atMs, target, timing, isKeyed, task, maxFailures, edits }: AlarmPlan): string[] {
  const details = [
    task.failures > 0 && `fails ${task.failures === 1 ? 'once' : `${task.failures} times`}`,
    task.hangs && 'hangs on the first attempt',
    maxFailures < 100 && `at most ${counted(maxFailures, 'attempt', 'attempts')}`,
    isKeyed && 'by key',
  ].filter((text) => text !== false)
  return [
    `  ${seconds(atMs)} a user sets alarm ${name} (${[target, ...details].join(', ')}) ${timingText(timing)}`,
    ...edits.map((edit) => {
      const moment = edit.on ? ` (at the next ${edit.on.statement} ${edit.on.point})` : ''
      return `    ${seconds(edit.atMs)}${moment} then ${edit.kind}${edit.timing ? ` ${timingText(edit.timing)}` : ''}`
    }),
  ]
}

/** The trace shows which process it hit, because that depends on which ones are up. */
function faultLine(planned: PlannedFault): string {
  return `  ${seconds(planned.at)} ${planned.fault}${faultText(planned)}`
}

function faultText({ fault, ms, statement, point, n }: PlannedFault): string {
  if (fault === 'stall') return ` for ${ms} ms at its next ${statement} ${point}`
  if (fault === 'killAtStatement') return ` at its next ${statement} ${point}`
  if (fault === 'killAtEvent') return ` ${point === 'sent' ? 'before' : 'after'} its event ${n} from then on`
  if (fault === 'clockStep' || fault === 'clockLeap' || fault === 'databaseStep') return ` by ${ms} ms`
  return MOMENTARY.has(fault) ? '' : ` for ${ms} ms`
}

function timingText(timing: Timing): string {
  if (timing.kind === 'once') return `at ${seconds(timing.atMs)}`
  if (timing.kind === 'cron') return `${timing.rrule ?? timing.cron} in ${timing.timezone}`
  return `every ${timing.everyMs} ms from ${seconds(timing.startMs)}${timing.count ? `, ${timing.count} times` : ''}`
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(3)} s`
}
