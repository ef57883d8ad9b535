import type { Command } from 'commander'
import { wireJson } from '../../alarm/index.ts'
import { addCommand } from '../arguments/command.ts'
import { withSession } from '../session/session.ts'
import { addKeyOption, assertNamed, idOf, type KeyFlag } from '../session/which-alarm.ts'
import { notFound } from '../terminal/failure.ts'
import type { Shell } from '../terminal/shell.ts'
import { alarmCard } from '../text/alarm-text.ts'

/** `get ID`: everything about one alarm. */
export function addGet(program: Command, shell: Shell): void {
  const command = addCommand(program, 'get [id]', 'show one alarm', [
    'get 0190c3b2-7e3a-7c3e-8e0c-0f3f2a5b1c2d',
    'get --key standup --json',
  ])
  addKeyOption(command).action(async (id: string | undefined, flags: KeyFlag, self: Command) => {
    assertNamed(id, flags)
    await withSession(shell, self, 'existing', async (session) => {
      const { alarms, out } = session
      const whole = await idOf(alarms, id, flags)
      const alarm = await alarms.get(whole)
      if (alarm === null) throw notFound(whole)
      out.answer({ json: () => wireJson(alarm), human: () => alarmCard(alarm, session, out.width) })
    })
  })
}
