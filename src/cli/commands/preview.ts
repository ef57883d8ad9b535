import type { Command } from 'commander'
import { wireRule, wireText, withoutUndefined } from '../../library/index.ts'
import type { Preview } from '../../time/index.ts'
import {
  addCommand,
  addWhenOptions,
  joined,
  namesCalendars,
  readWhen,
  type WhenFlags,
  wholeNumber,
} from '../arguments/index.ts'
import { withSession } from '../session/index.ts'
import type { CliContext } from '../terminal/index.ts'
import { card, localTime, noteText, relativeTime, ruleText, wrap } from '../text/index.ts'

/** `preview WHEN`: prints a time in words and its next instants, without storing anything. */
export function addPreview(program: Command, cli: CliContext): void {
  const summary = 'show when an alarm would fire, without setting it'
  const command = addCommand(program, 'preview [when...]', summary, [
    "preview 'tomorrow at 9am'",
    "preview --cron '0 9 * * 1-5' --timezone America/New_York",
    "preview --cron '30 2 * * *' --from 2027-03-27T00:00Z -n 3",
    "preview --cron '0 9 25 * *' --exclude weekends --move previous",
  ])
  addWhenOptions(command)
    .option('-n, --instants <n>', 'number of instants (default 5)', wholeNumber(1, 1000))
    .option('--from <time>', 'show instants from here on: a date, a time, next monday')
    .action(
      async (words: string[], flags: WhenFlags & { instants?: number; from?: string }, self: Command) => {
        const when = readWhen(words, flags)
        const need = namesCalendars(words, flags) ? 'existing' : 'none'
        await withSession(cli, self, need, async ({ alarms, out, now }) => {
          const { instants: count, from } = flags
          const preview = await alarms.preview(when, withoutUndefined({ count, from }))
          out.print(wireText({ ...preview, rule: wireRule(preview.rule) }), () =>
            previewLines(preview, now(), out.width),
          )
        })
      },
    )
}

/** `parse TEXT`: prints what a time in plain language means, without storing anything. */
export function addParse(program: Command, cli: CliContext): void {
  addCommand(program, 'parse <text...>', 'show what a time in plain language means', [
    "parse 'next friday at 3pm' --timezone America/New_York",
  ]).action(async (words: string[], _flags: unknown, self: Command) => {
    const need = namesCalendars(words, {}) ? 'existing' : 'none'
    await withSession(cli, self, need, async ({ alarms, out, zone, now }) => {
      const { instant, rule, timezone, notes } = await alarms.parse(joined(words), zone)
      const unix = instant === undefined ? undefined : Math.ceil(instant.getTime() / 1000)
      const at = instant && `${localTime(instant, timezone)} (${relativeTime(instant, now())})`
      out.print(wireText({ instant, unix, rule: rule && wireRule(rule), timezone, notes }), () =>
        card(
          [
            ['instant', at ?? ''],
            ['utc', instant?.toISOString() ?? ''],
            ['unix', unix === undefined ? '' : String(unix)],
            ['rule', rule === undefined ? '' : ruleText(rule)],
            ['timezone', timezone],
            ['note', noteText(notes)],
          ],
          out.width,
        ),
      )
    })
  })
}

function previewLines({ rule, timezone, instants }: Preview, now: number, width: number | null): string[] {
  const lines = instants.flatMap(({ instant, note }) => {
    const at = new Date(instant)
    const line = `  ${localTime(at, timezone)}  ${relativeTime(at, now)}`
    return note === undefined ? [line] : [line, wrap(`    ${noteText([note])}`, width, '    ')]
  })
  return [
    ...card(
      [
        ['rule', ruleText(rule)],
        ['timezone', timezone],
      ],
      width,
    ),
    ...lines,
  ]
}
