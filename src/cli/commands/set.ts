import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import type { Command } from 'commander'
import { type AlarmView, rawJson, wireJson } from '../../alarm/index.ts'
import { withFields } from '../../library/index.ts'
import { resolveWhen } from '../../time/index.ts'
import {
  addCommand,
  addSetOptions,
  addWhenOptions,
  isInMemory,
  namesCalendars,
  PRINT_TARGET,
  readSetFlags,
  readWhen,
  type SetFlags,
  type WhenFlags,
  zoneOf,
} from '../arguments/index.ts'
import { type Session, withSession } from '../session/index.ts'
import { type CliContext, type Terminal, withFile } from '../terminal/index.ts'
import { card, noteText, oneLine, ruleText, targetOf, timeFor } from '../text/index.ts'

/** `set WHEN`: sets an alarm. */
export function addSet(program: Command, shell: CliContext): void {
  const command = addCommand(program, 'set [when...]', 'set an alarm', [
    "set 'in 10 seconds' --message hello",
    "set 'tomorrow at 9am' --timezone Europe/Rome --label 'call Ann'",
    "set --cron '0 9 * * 1-5' --key standup --event",
    "set --cron '0 9 25 * *' --exclude us-holidays,fri --move previous",
    'set --every 5m --target remind --payload \'{"room":12}\'',
    'set --unix 1799999999 --target remind --payload @order.json',
  ])
  addSetOptions(addWhenOptions(command)).action(
    async (words: string[], flags: SetFlags & WhenFlags, self: Command) => {
      const when = readWhen(words, flags)
      const options = readSetFlags(flags)
      // Checked before the store is opened, so that a wrong time does not create a file.
      if (!namesCalendars(words, flags))
        resolveWhen(when, { now: shell.terminal.now(), timezone: zoneOf(self.optsWithGlobals()) })
      const payload =
        flags.payload === undefined
          ? {}
          : { payload: rawJson((await readSource(flags.payload, shell.terminal)).trim()) }
      await withSession(shell, self, 'any', async (session) => {
        const alarm = await session.alarms.set(when, { ...options, ...payload })
        if (isInMemory(session.url))
          session.out.note(`note: ${session.url} exists only during this command, so the alarm is not kept`)
        if (!session.out.json) {
          for (const line of summary(alarm, session)) session.out.line(line)
          await hintAtClock(alarm, session, shell)
          return
        }
        const wire = wireJson(alarm)
        session.out.line(alarm.deduped === true ? withFields(wire, { deduped: true }) : wire)
      })
    },
  )
}

function summary(alarm: AlarmView & { deduped?: true }, view: Session): string[] {
  const { out } = view
  const next = alarm.nextFireAt
  const head =
    alarm.deduped === true ? 'already set, nothing changed' : isSetAgain(alarm) ? 'set again' : 'set'
  return [
    `${head}: ${alarm.id}`,
    ...card(
      [
        ['  status', alarm.deduped === true || next === null ? alarm.status : ''],
        ['  fires', next === null ? '' : timeFor(next, view, alarm.timezone)],
        ['  rule', alarm.kind === 'once' ? '' : ruleText(alarm.rule)],
        ['  target', isPrinted(alarm) ? 'printed by `wakeful serve`' : targetOf(alarm)],
        [
          '  if missed',
          alarm.rule.kind === 'once' && alarm.rule.misfire === 'skip' ? 'it does not fire' : '',
        ],
        ['  note', noteText(alarm.notes)],
      ],
      out.width,
    ),
  ]
}

/** Whether the key was set before: the alarm keeps its id and its time of creation. */
function isSetAgain({ createdAt, updatedAt }: AlarmView): boolean {
  return createdAt.getTime() !== updatedAt.getTime()
}

function isPrinted(alarm: AlarmView): boolean {
  return alarm.target === PRINT_TARGET.handler && alarm.pool === PRINT_TARGET.pool
}

/** Notes that no process fires alarms now. Newcomers would wait for the alarm in vain. */
async function hintAtClock(
  alarm: AlarmView,
  { wakeful, out, url }: Session,
  shell: CliContext,
): Promise<void> {
  // A server fires alarms itself.
  if (isInMemory(url) || wakeful === null) return
  const clocks = await wakeful.ownership()
  if (clocks.some((clock) => clock.pool === alarm.pool && clock.owner !== null)) return
  const isServed = alarm.pool === PRINT_TARGET.pool || alarm.targetKind !== 'handler'
  out.note(
    isServed
      ? `no process fires it now: start \`${shell.invocation} serve\``
      : `no process serves pool ${oneLine(alarm.pool)} now: it fires when one starts`,
  )
}

/** The text of an argument: itself, that of a file (`@file`), or of stdin (`-`). */
async function readSource(argument: string, terminal: Terminal): Promise<string> {
  if (argument === '-') return await text(terminal.stdin)
  if (!argument.startsWith('@')) return argument
  const file = argument.slice(1)
  return await withFile(file, () => readFile(file, 'utf8'))
}
