import type { Command } from 'commander'
import { type AlarmView, wireJson } from '../../alarm/index.ts'
import { inField, WakefulError } from '../../error.ts'
import type { SeenOptions } from '../../index.ts'
import { withoutUndefined } from '../../library/index.ts'
import { parseInstant } from '../../time/index.ts'
import {
  addCommand,
  addWhenOptions,
  type Globals,
  joined,
  readWhen,
  type WhenFlags,
} from '../arguments/index.ts'
import { addKeyOption, type LocalOrRemoteAlarms, oneAlarmAction, type Session } from '../session/index.ts'
import type { CliContext } from '../terminal/index.ts'
import { card, noteText, ruleText, statusText } from '../text/index.ts'
import { addManyOptions, oneOrManyAction } from './many.ts'

type SeenFlags = { readonly ifUpdatedAt?: Date }

const ID = '0190c3b2-7e3a-7c3e-8e0c-0f3f2a5b1c2d'

/** Commands with their method, their summary, and what is printed after them. */
const ACTIONS = [
  ['pause', 'pause', 'pause an alarm, or all that match', 'paused'],
  ['resume', 'resume', 'resume a paused alarm, or all that match', 'resumed'],
  ['skip', 'skipNext', 'skip the next occurrence', 'next one skipped'],
  [
    'fire',
    'fireNow',
    'fire an alarm now; the schedule of a recurring alarm continues, a one-shot does not fire again',
    'fires now',
  ],
  ['retry', 'retry', 'retry a failed or timed-out alarm', 'tried again'],
] as const

const REPORTS = [
  { verb: 'complete', word: 'result', summary: 'report that the work is done', example: 'sent to 3 people' },
  { verb: 'fail', word: 'reason', summary: 'report that the work failed', example: 'HTTP 503' },
] as const

/** The commands that change one alarm. */
export function addEdits(program: Command, cli: CliContext): void {
  addReschedule(program, cli)
  addActions(program, cli)
  addSnooze(program, cli)
  addReports(program, cli)
}

/** `pause`, `resume`, `skip`, `fire` and `retry ID`. */
function addActions(program: Command, cli: CliContext): void {
  for (const [name, method, summary, done] of ACTIONS) {
    const isForMany = method === 'pause' || method === 'resume'
    const command = addCommand(program, `${name} [id]`, summary, [
      `${name} ${ID}`,
      `${name} --key standup`,
      ...(isForMany ? [`${name} --subject order-7`, `${name} --label digest --dry-run`] : []),
    ])
    const one = oneAlarmAction(cli, (flags: SeenFlags) =>
      change(done, (alarms, id) => alarms[method](id, seenOf(flags))),
    )
    addSeenOption(addKeyOption(command))
    if (isForMany) addManyOptions(command).action(oneOrManyAction(cli, `${method}Many`, done, one))
    else command.action(one)
  }
}

/** `complete ID [RESULT]` and `fail ID [REASON]`: the reports of a target. */
function addReports(program: Command, cli: CliContext): void {
  for (const { verb, word, summary, example } of REPORTS)
    addKeyOption(addCommand(program, `${verb} [id] [${word}...]`, summary, [`${verb} ${ID} '${example}'`]))
      .option('--occurrence <id>', 'the occurrence (default: the open one)')
      .action(
        oneAlarmAction(cli, (flags: { occurrence?: string }, words) => {
          const text = words.length === 0 ? undefined : joined(words)
          const occurrence = withoutUndefined({ occurrenceId: flags.occurrence })
          return change('reported', (alarms, id) => alarms[verb](id, text, occurrence))
        }),
      )
}

/** Adds the option that makes an edit fail with `conflict` if the alarm was edited meanwhile. */
export function addSeenOption(command: Command): Command {
  return command.option(
    '--if-updated-at <instant>',
    'fail if the alarm was edited after this updated_at',
    (text) => inField('updatedAt', () => new Date(parseInstant(text))),
  )
}

/** The version that an edit is based on. */
export function seenOf({ ifUpdatedAt: updatedAt }: SeenFlags): SeenOptions {
  return withoutUndefined({ updatedAt })
}

/** `snooze ID WHEN`: fires an alarm at another instant instead. */
function addSnooze(program: Command, cli: CliContext): void {
  const command = addCommand(program, 'snooze [id] [when...]', 'fire an alarm at another time instead', [
    `snooze ${ID} 10m`,
    "snooze --key standup 'tomorrow at 8am'",
  ])
  addSeenOption(addKeyOption(command)).action(
    oneAlarmAction(cli, (flags: SeenFlags & Globals, words) => {
      if (words.length === 0) throw new WakefulError('cli.snooze_time_missing', {})
      const when = readWhen(words, {})
      const options = withoutUndefined({ ...seenOf(flags), timezone: flags.timezone })
      return change('snoozed', (alarms, id) => alarms.snooze(id, when, options))
    }),
  )
}

/** Makes one change and prints the alarm after it. */
function change(
  done: string,
  make: (alarms: LocalOrRemoteAlarms, id: string) => Promise<AlarmView>,
  more: (alarm: AlarmView) => (readonly [string, string])[] = () => [],
) {
  return async (session: Session, id: string): Promise<void> => {
    const alarm = await make(session.alarms, id)
    session.out.print(wireJson(alarm), () => [
      `${done}: ${alarm.id} is ${statusText(alarm, session)}`,
      ...card(more(alarm), session.out.width),
    ])
  }
}

/** `reschedule ID WHEN`: changes the time of an alarm. */
function addReschedule(program: Command, cli: CliContext): void {
  const command = addCommand(program, 'reschedule [id] [when...]', 'change the time of an alarm', [
    `reschedule ${ID} 'next friday at 3pm'`,
    `reschedule ${ID} --cron '0 8 * * *'`,
    'reschedule --key standup --exclude us-holidays',
  ])
  addSeenOption(addWhenOptions(addKeyOption(command))).action(
    oneAlarmAction(cli, (flags: WhenFlags & SeenFlags & Globals, words) => {
      const when = readWhen(words, flags, true)
      // Without --timezone, the time is read in the zone of the alarm.
      const options = withoutUndefined({ ...seenOf(flags), timezone: flags.timezone })
      return change('rescheduled', (alarms, id) => alarms.reschedule(id, when, options), ruleLines)
    }),
  )
}

/** The new rule, and notes on what it kept of the old one. */
function ruleLines({ kind, rule, notes }: AlarmView): (readonly [string, string])[] {
  return [
    ['  rule', kind === 'once' ? '' : ruleText(rule)],
    ['  note', noteText(notes)],
  ]
}
