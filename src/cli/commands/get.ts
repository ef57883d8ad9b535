import type { Command } from 'commander'
import { alarmCard } from '../alarm-text.ts'
import { addCommand } from '../command.ts'
import { badUsage, notFound } from '../failure.ts'
import { withSession } from '../session.ts'
import type { Shell } from '../shell.ts'

/** `get ID`: everything about one alarm. */
export function addGet(program: Command, shell: Shell): void {
  addCommand(program, 'get [id]', 'show one alarm', [
    'get 0190c3b2-7e3a-7c3e-8e0c-0f3f2a5b1c2d',
    'get --key standup --json',
  ])
    .option('--key <key>', 'the alarm with this key, instead of the id')
    .action(async (id: string | undefined, flags: { key?: string }, self: Command) => {
      if ((id === undefined) === (flags.key === undefined)) throw badUsage('give an id or --key')
      await withSession(shell, self, 'existing', async (session) => {
        const { alarms, out } = session
        const alarm = id === undefined ? await alarms.getByKey(flags.key!) : await alarms.get(id)
        const wire = alarm === null ? null : await alarms.wire(alarm.id)
        if (alarm === null || wire === null) throw notFound(id ?? flags.key!)
        out.answer({ json: () => wire, human: () => alarmCard(alarm, session, out.width) })
      })
    })
}
