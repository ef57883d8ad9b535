import type { Command } from 'commander'
import { type AlarmView, wireJson } from '../../alarm/index.ts'
import type { SeenOptions } from '../../index.ts'
import { parseInstant } from '../../time/index.ts'
import {
  addCommand,
  addWhenOptions,
  type Globals,
  joined,
  readWhen,
  type WhenFlags,
} from '../arguments/index.ts'
import {
  addKeyOption,
  assertNamed,
  idOf,
  type KeyFlag,
  type LocalOrRemoteAlarms,
  splitIdFromArguments,
  withSession,
} from '../session/index.ts'
import type { CliContext } from '../terminal/index.ts'
import { card, noteText, ruleText, statusText } from '../text/index.ts'

type SeenFlags = { readonly ifUpdatedAt?: string }
type Action = (alarms: LocalOrRemoteAlarms, id: string, seen: SeenOptions) => Promise<AlarmView>

const ACTIONS: readonly { name: string; summary: string; done: string; action: Action }[] = [
  { name: 'pause', summary: 'pause an alarm', done: 'paused', action: (alarms, id, seen) => alarms.pause(id, seen) },
  { name: 'resume', summary: 'resume a paused alarm', done: 'resumed', action: (alarms, id, seen) => alarms.resume(id, seen) },
  { name: 'skip', summary: 'skip the next occurrence', done: 'next one skipped', action: (alarms, id, seen) => alarms.skipNext(id, seen) },
  { name: 'fire', summary: 'fire an alarm now, in addition to its schedule', done: 'fires now', action: (alarms, id, seen) => alarms.fireNow(id, seen) },
  { name: 'retry', summary: 'retry a failed alarm', done: 'tried again', action: (alarms, id, seen) => alarms.retry(id, seen) },
] // biome-ignore format: a table

/** `pause`, `resume`, `skip`, `fire` and `retry ID`. */
export function addActions(program: Command, shell: CliContext): void {
  for (const { name, summary, done, action } of ACTIONS) {
    const examples = [`${name} 0190c3b2-7e3a-7c3e-8e0c-0f3f2a5b1c2d`, `${name} --key standup`]
    const command = addCommand(program, `${name} [id]`, summary, examples)
    addSeenOption(addKeyOption(command)).action(
      async (id: string | undefined, flags: SeenFlags & KeyFlag, self: Command) => {
        const seen = seenOf(flags)
        assertNamed(id, flags)
        await change(shell, self, done, async (alarms) => action(alarms, await idOf(alarms, id, flags), seen))
      },
    )
  }
}

/** `complete ID [RESULT]` and `fail ID [REASON]`: the reports of a target. */
export function addReports(program: Command, shell: CliContext): void {
  const id = '0190c3b2-7e3a-7c3e-8e0c-0f3f2a5b1c2d'
  addReport(program, shell, 'complete', 'result', 'report that the work is done', [
    `complete ${id} 'sent to 3 people'`,
  ])
  addReport(program, shell, 'fail', 'reason', 'report that the work failed', [`fail ${id} 'HTTP 503'`])
}

function addReport(
  program: Command,
  shell: CliContext,
  verb: 'complete' | 'fail',
  word: string,
  summary: string,
  examples: readonly string[],
): void {
  type Flags = KeyFlag & { readonly occurrence?: string }
  addKeyOption(addCommand(program, `${verb} [id] [${word}...]`, summary, examples))
    .option('--occurrence <id>', 'the occurrence (default: the open one)')
    .action(async (first: string | undefined, rest: string[], flags: Flags, self: Command) => {
      const { id, words } = splitIdFromArguments(first, rest, flags)
      assertNamed(id, flags)
      const occurrence = flags.occurrence === undefined ? {} : { occurrenceId: flags.occurrence }
      await change(shell, self, 'reported', async (alarms) =>
        alarms[verb](await idOf(alarms, id, flags), textOf(words), occurrence),
      )
    })
}

/** Adds the option that makes an edit fail with `conflict` if the alarm was edited meanwhile. */
export function addSeenOption(command: Command): Command {
  return command.option('--if-updated-at <instant>', 'fail if the alarm was edited after this updated_at')
}

/** The version that an edit is based on. */
export function seenOf(flags: SeenFlags): SeenOptions {
  return flags.ifUpdatedAt === undefined ? {} : { updatedAt: new Date(parseInstant(flags.ifUpdatedAt)) }
}

/** Makes one change and prints the alarm after it. */
async function change(
  shell: CliContext,
  command: Command,
  done: string,
  make: (alarms: LocalOrRemoteAlarms) => Promise<AlarmView>,
  more: (alarm: AlarmView) => (readonly [string, string])[] = () => [],
): Promise<void> {
  await withSession(shell, command, 'existing', async (session) => {
    const { alarms, out } = session
    const alarm = await make(alarms)
    out.print({
      json: () => wireJson(alarm),
      human: () => [`${done}: ${alarm.id} is ${statusText(alarm, session)}`, ...card(more(alarm), out.width)],
    })
  })
}

function textOf(words: readonly string[]): string | undefined {
  return words.length === 0 ? undefined : joined(words)
}

/** `reschedule ID WHEN`: changes the time of an alarm. */
export function addReschedule(program: Command, shell: CliContext): void {
  const command = addCommand(program, 'reschedule [id] [when...]', 'change the time of an alarm', [
    "reschedule 0190c3b2-7e3a-7c3e-8e0c-0f3f2a5b1c2d 'next friday at 3pm'",
    "reschedule 0190c3b2-7e3a-7c3e-8e0c-0f3f2a5b1c2d --cron '0 8 * * *'",
    'reschedule --key standup --exclude us-holidays',
  ])
  type Flags = WhenFlags & KeyFlag & { ifUpdatedAt?: string }
  addSeenOption(addWhenOptions(addKeyOption(command))).action(
    async (first: string | undefined, rest: string[], flags: Flags, self: Command) => {
      const { id, words } = splitIdFromArguments(first, rest, flags)
      assertNamed(id, flags)
      const when = readWhen(words, flags, true)
      const { timezone } = self.optsWithGlobals<Globals>()
      // Without --timezone, the time is read in the zone of the alarm.
      const options = { ...seenOf(flags), ...(timezone !== undefined && { timezone }) }
      await change(
        shell,
        self,
        'rescheduled',
        async (alarms) => alarms.reschedule(await idOf(alarms, id, flags), when, options),
        ruleLines,
      )
    },
  )
}

/** The new rule, and notes on what it kept of the old one. */
function ruleLines({ kind, rule, notes }: AlarmView): (readonly [string, string])[] {
  return [
    ['  rule', kind === 'once' ? '' : ruleText(rule)],
    ['  note', noteText(notes)],
  ]
}
