import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { type CancelOutcome, wireJson } from '../../alarm/index.ts'
import { WakefulError } from '../../error.ts'
import type { SeenOptions } from '../../index.ts'
import { addCommand } from '../arguments/index.ts'
import {
  addKeyOption,
  alarmsAction,
  idOf,
  type KeyFlag,
  type Session,
  wholeId,
  withSession,
} from '../session/index.ts'
import type { CliContext, Terminal } from '../terminal/index.ts'
import { count, counted } from '../text/index.ts'
import { addSeenOption, seenOf } from './actions.ts'

type CancelFlags = KeyFlag & { readonly subject?: string; readonly ifUpdatedAt?: Date }

const WORDS: Record<CancelOutcome, string> = {
  cancelled: 'cancelled',
  firing: 'firing now: the delivery in flight continues, none follows',
  ended: 'had already ended',
}

/** `cancel ID…`: cancels alarms, and prints the outcome of each. */
export function addCancel(program: Command, cli: CliContext): void {
  const command = addCommand(program, 'cancel [ids...]', 'cancel alarms', [
    'cancel 0190c3b2-7e3a-7c3e-8e0c-0f3f2a5b1c2d',
    'cancel --subject order-7',
    'cancel --key standup',
  ]).option('--subject <name>', 'all alarms of this subject, instead of ids')
  addSeenOption(addKeyOption(command)).action(async (ids: string[], flags: CancelFlags, self: Command) => {
    const ways = [ids.length > 0, flags.subject !== undefined, flags.key !== undefined]
    if (ways.filter(Boolean).length !== 1) throw new WakefulError('cli.cancel_which', {})
    if (flags.ifUpdatedAt !== undefined && (flags.subject !== undefined || ids.length > 1))
      throw new WakefulError('cli.one_id', {}, { field: 'updatedAt' })
    const seen = seenOf(flags)
    await withSession(cli, self, 'existing', async (session) => {
      if (flags.subject !== undefined) await cancelSubject(session, flags.subject)
      else if (flags.key !== undefined)
        await cancelOne(session, await idOf(session.alarms, undefined, flags), seen, cli)
      else for (const id of ids) await cancelOne(session, id, seen, cli)
    })
  })
}

/** Cancels one alarm. An unknown id does not prevent the others from being cancelled. */
async function cancelOne(
  { alarms, out }: Session,
  name: string,
  seen: SeenOptions,
  cli: CliContext,
): Promise<void> {
  let id = name
  try {
    id = await wholeId(alarms, name)
    const { outcome, alarm } = await alarms.cancel(id, seen)
    out.print(`{"id":${JSON.stringify(id)},"outcome":"${outcome}","alarm":${wireJson(alarm)}}`, () => [
      `${id}: ${WORDS[outcome]}`,
    ])
  } catch (thrown) {
    if (!(thrown instanceof WakefulError) || thrown.code !== 'not_found') throw thrown
    cli.exitCode = 1
    if (!out.json) out.note(`error: ${id}: not found (not_found)`)
    else out.line(JSON.stringify({ id, outcome: 'not_found' }))
  }
}

async function cancelSubject({ alarms, out }: Session, subject: string): Promise<void> {
  const { cancelled, firing } = await alarms.removeSubject(subject)
  out.print(JSON.stringify({ subject, cancelled, firing }), () => [cancelledText(cancelled, firing)])
}

function cancelledText(cancelled: number, firing: number): string {
  return `${count(cancelled)} cancelled${firing > 0 ? `, ${count(firing)} firing now` : ''}`
}

/** `reset`: cancels every pending alarm, after a confirmation. */
export function addReset(program: Command, cli: CliContext): void {
  addCommand(program, 'reset', 'cancel every pending alarm', ['reset --yes'])
    .option('-y, --yes', 'do not ask for confirmation')
    .action(
      alarmsAction(cli, 'existing', async ({ alarms, out }, { yes }: { yes?: true }) => {
        if (yes !== true && !(await isConfirmed(cli.terminal, (await alarms.stats()).pending))) {
          out.note('nothing was cancelled')
          cli.exitCode = 1
          return
        }
        const { cancelled, firing } = await alarms.reset()
        out.print(JSON.stringify({ cancelled, firing }), () => [cancelledText(cancelled, firing)])
      }),
    )
}

async function isConfirmed(terminal: Terminal, pending: number): Promise<boolean> {
  if (terminal.stdin.isTTY !== true || terminal.stderr.isTTY !== true) {
    throw new WakefulError('cli.reset_unconfirmed', {})
  }
  // On stderr, so that the question is visible even if stdout is redirected.
  const prompt = createInterface({
    input: terminal.stdin,
    output: terminal.stderr as unknown as NodeJS.WritableStream,
  })
  try {
    const answer = await prompt.question(`Cancel all ${counted(pending, 'pending alarm')}? [y/N] `)
    return /^y(?:es)?$/i.test(answer.trim())
  } catch (thrown) {
    // Ctrl-C and Ctrl-D mean no.
    if ((thrown as Error).name !== 'AbortError') throw thrown
    terminal.stderr.write('\n')
    return false
  } finally {
    prompt.close()
  }
}
