import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { addCommand } from '../arguments/command.ts'
import { withSession } from '../session/session.ts'
import { badUsage } from '../terminal/failure.ts'
import { counted } from '../terminal/progress.ts'
import type { Shell } from '../terminal/shell.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { cancelledText } from './cancel.ts'

/** `reset`: cancels every pending alarm, after asking. */
export function addReset(program: Command, shell: Shell): void {
  addCommand(program, 'reset', 'cancel every pending alarm', ['reset --yes'])
    .option('-y, --yes', 'do not ask')
    .action(async (flags: { yes?: boolean }, self: Command) => {
      await withSession(shell, self, 'existing', async ({ alarms, out }) => {
        if (flags.yes !== true) {
          const { pending } = await alarms.stats()
          if (!(await agreed(shell.terminal, pending))) {
            out.aside('nothing was cancelled')
            shell.exitCode = 1
            return
          }
        }
        const { cancelled, firing } = await alarms.reset()
        out.answer({
          json: () => JSON.stringify({ cancelled, firing }),
          human: () => [cancelledText(cancelled, firing)],
        })
      })
    })
}

async function agreed(terminal: Terminal, pending: number): Promise<boolean> {
  if (terminal.stdin.isTTY !== true || terminal.stderr.isTTY !== true) {
    throw badUsage('reset cancels every pending alarm: add --yes to say that you mean it')
  }
  // Asked on stderr, so that a redirected answer does not swallow the question.
  const prompt = createInterface({
    input: terminal.stdin,
    output: terminal.stderr as unknown as NodeJS.WritableStream,
  })
  try {
    const answer = await prompt.question(`Cancel all ${counted(pending, 'pending alarm')}? [y/N] `)
    return /^y(?:es)?$/i.test(answer.trim())
  } catch (thrown) {
    // Ctrl-C and Ctrl-D are answers too.
    if ((thrown as Error).name !== 'AbortError') throw thrown
    terminal.stderr.write('\n')
    return false
  } finally {
    prompt.close()
  }
}
