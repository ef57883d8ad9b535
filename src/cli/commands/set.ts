import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import type { Command } from 'commander'
import { type AlarmView, type RawJson, rawJson, wireJson } from '../../alarm/index.ts'
import { inField } from '../../error.ts'
import { type SetView, withFields, withoutUndefined } from '../../library/index.ts'
import { withoutPasswords } from '../../redaction/index.ts'
import { resolveWhen } from '../../time/index.ts'
import {
  addCommand,
  addSetOptions,
  addWhenOptions,
  type Globals,
  isInMemory,
  locationOf,
  namesCalendars,
  PRINT_TARGET,
  phrasesOf,
  readSetFlags,
  readWhen,
  type SetFlags,
  shellArgument,
  type WhenFlags,
  zoneOf,
} from '../arguments/index.ts'
import { type Session, withSession } from '../session/index.ts'
import { type CliContext, type Terminal, withFile } from '../terminal/index.ts'
import { card, missedText, noteText, oneLine, ruleText, targetOf, timeFor } from '../text/index.ts'

/** `set WHEN`: sets an alarm. */
export function addSet(program: Command, cli: CliContext): void {
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
      const globals: Globals = self.optsWithGlobals()
      const { env } = cli.terminal
      // Checked before the store is opened, so that a wrong time does not create a file.
      if (locationOf(globals, env).kind === 'store' && !namesCalendars(words, flags)) {
        const context = { now: cli.terminal.now(), timezone: zoneOf(globals), phrases: phrasesOf(env) }
        resolveWhen(when, context)
      }
      const payload = await readPayload(flags.payload, cli.terminal)
      await withSession(cli, self, 'any', async (session) => {
        const { alarms, out, url } = session
        const alarm = await alarms.set(when, withoutUndefined({ ...options, payload }))
        if (isInMemory(url))
          out.note(`note: ${url} exists only during this command, so the alarm is not kept`)
        const json = wireJson(alarm)
        const { deduped, unchanged } = alarm
        out.print(withFields(json, withoutUndefined({ deduped, unchanged })), () => summary(alarm, session))
        if (!out.json) await noteIfNothingFires(alarm, session, cli)
      })
    },
  )
}

function summary(alarm: SetView, session: Session): string[] {
  const next = alarm.nextFireAt
  const isUnchanged = alarm.deduped === true || alarm.unchanged === true
  const facts: [string, string][] = [
    ['  status', isUnchanged || next === null ? alarm.status : ''],
    ['  fires', next === null ? '' : timeFor(next, session, alarm.timezone)],
    ['  rule', alarm.kind === 'once' ? '' : ruleText(alarm.rule)],
    ['  target', isPrinted(alarm) ? 'printed by `wakeful serve`' : targetOf(alarm)],
    ['  if missed', missedText(alarm)],
    ['  note', noteText(alarm.notes)],
  ]
  const changed = isSetAgain(alarm) ? 'set again' : 'set'
  return [
    `${isUnchanged ? 'already set, nothing changed' : changed}: ${alarm.id}`,
    ...card(facts, session.out.width),
  ]
}

/** Whether the key was set before: the alarm keeps its id and its time of creation. */
function isSetAgain({ createdAt, updatedAt }: AlarmView): boolean {
  return createdAt.getTime() !== updatedAt.getTime()
}

function isPrinted(alarm: AlarmView): boolean {
  return alarm.target === PRINT_TARGET.handler && alarm.pool === PRINT_TARGET.pool
}

/** Prints a note if no process fires alarms now: newcomers would wait for the alarm in vain. */
async function noteIfNothingFires(alarm: AlarmView, session: Session, cli: CliContext): Promise<void> {
  const { wakeful, out, globals, url } = session
  // A server fires alarms itself.
  if (isInMemory(url) || wakeful === null) return
  const pools = await wakeful.ownership()
  if (pools.some(({ pool, owner }) => pool === alarm.pool && owner !== null)) return
  const isServed = alarm.pool === PRINT_TARGET.pool || alarm.targetKind !== 'handler'
  // A URL with a password is not printed.
  const isPrintable = globals.db !== undefined && withoutPasswords(globals.db) === globals.db
  const db = isPrintable ? ` --db ${shellArgument(globals.db)}` : ''
  out.note(
    isServed
      ? `no process fires it now: start \`${cli.invocation} serve${db}\``
      : `no process serves pool ${oneLine(alarm.pool)} now: it fires when one starts`,
  )
}

/** The payload of an argument. */
async function readPayload(argument: string | undefined, terminal: Terminal): Promise<RawJson | undefined> {
  if (argument === undefined) return undefined
  const json = await readInput(argument, terminal)
  return inField('payload', () => rawJson(json.trim()))
}

/** The text of an argument: itself, that of a file (`@file`), or of stdin (`-`). */
async function readInput(argument: string, { stdin }: Terminal): Promise<string> {
  if (argument === '-') return text(stdin)
  if (!argument.startsWith('@')) return argument
  const file = argument.slice(1)
  return withFile(file, () => readFile(file, 'utf8'))
}
