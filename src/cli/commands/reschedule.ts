import type { Command } from 'commander'
import type { AlarmView } from '../../alarm/index.ts'
import { addCommand } from '../arguments/command.ts'
import type { Globals } from '../arguments/globals.ts'
import { addWhenOptions, readWhen, type WhenFlags } from '../arguments/when-arguments.ts'
import { addKeyOption, assertNamed, idOf, type KeyFlag, wordsBeside } from '../session/which-alarm.ts'
import type { Shell } from '../terminal/shell.ts'
import { noteText, ruleText } from '../text/alarm-text.ts'
import { addSeenOption, change, seenOf } from './act.ts'

/** `reschedule ID WHEN`: moves an alarm to another time. */
export function addReschedule(program: Command, shell: Shell): void {
  const command = addCommand(program, 'reschedule [id] [when...]', 'move an alarm to another time', [
    "reschedule 0190c3b2-7e3a-7c3e-8e0c-0f3f2a5b1c2d 'next friday at 3pm'",
    "reschedule 0190c3b2-7e3a-7c3e-8e0c-0f3f2a5b1c2d --cron '0 8 * * *'",
    'reschedule --key standup --exclude us-holidays',
  ])
  type Flags = WhenFlags & KeyFlag & { ifUpdatedAt?: string }
  addSeenOption(addWhenOptions(addKeyOption(command))).action(
    async (first: string | undefined, rest: string[], flags: Flags, self: Command) => {
      const { id, words } = wordsBeside(first, rest, flags)
      assertNamed(id, flags)
      const when = readWhen(words, flags, true)
      const { timezone } = self.optsWithGlobals<Globals>()
      // Where no zone is named, words are read in the alarm's own.
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

/** The rule as it is now, and what of the one before it stayed. */
function ruleLines({ kind, rule, notes }: AlarmView): (readonly [string, string])[] {
  return [
    ['  rule', kind === 'once' ? '' : ruleText(rule)],
    ['  note', noteText(notes)],
  ]
}
