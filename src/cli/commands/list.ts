import { type Command, Option } from 'commander'
import { ALARM_FIELDS, FILTER_NAMES, wireJson } from '../../alarm/index.ts'
import type { ListOptions } from '../../index.ts'
import { addCommand, clauses, flagName, readSince, wholeNumber } from '../arguments/index.ts'
import { addKeyOption, assertNamed, idOf, type KeyFlag, type Session, withSession } from '../session/index.ts'
import { badUsage, type CliContext, notFound } from '../terminal/index.ts'
import { alarmCard, listColumns, wireItems } from '../text/index.ts'

const STATUSES = ['pending', 'active', 'paused', 'fired', 'completed', 'failed', 'timed_out', 'cancelled']

/** Statuses of alarms without a next instant, which `--order due` cannot sort. */
const WITHOUT_INSTANT: readonly unknown[] = ['paused', 'completed', 'failed', 'timed_out', 'cancelled']

const FILTERS = ['status', ...FILTER_NAMES, 'target', 'q', 'order', 'limit', 'cursor'] as const

type ListFlags = Omit<ListOptions, 'since'> & { readonly since?: string }

/** `list`: the alarms of the owner, one page at a time. */
export function addList(program: Command, shell: CliContext): void {
  const command = addCommand(program, 'list', 'list alarms, newest first', [
    'list --status active --order due',
    'list --q standup --since 24h --json',
  ]).addOption(new Option('--status <status>', 'only alarms with this status').choices(STATUSES))
  for (const name of FILTER_NAMES)
    command.option(`${flagName(name)} <text>`, clauses(ALARM_FIELDS[name].filter))
  command
    .option('--target <name>', 'only alarms with this target')
    .option('--q <words>', 'words to search for in label, message, key and subject')
    .option('--since <time>', 'only alarms created since a time, or within a duration (2h)')
    .addOption(
      new Option('--order <order>', 'newest first, or alarms with an instant to come, next first').choices([
        'newest',
        'due',
      ]),
    )
    .option('--limit <n>', 'maximum number of alarms (default 50)', wholeNumber(1, 500))
    .option('--cursor <cursor>', 'the cursor of the next page')
    .action(async (flags: ListFlags, self: Command) => {
      if (flags.order === 'due' && WITHOUT_INSTANT.includes(flags.status)) {
        throw badUsage(
          `--order due lists alarms with an instant to come: active, pending, or fired and awaiting a report. For ${flags.status}, leave --order out.`,
        )
      }
      await withSession(shell, self, 'existing', async (session) => {
        const { alarms, out } = session
        const page = await alarms.list(filtersOf(flags, session))
        if (out.json) {
          out.line(wireItems(page.items, { next_cursor: page.nextCursor }))
          return
        }
        if (page.items.length === 0) out.note('no alarms')
        else for (const line of out.rows(listColumns(session), page.items)) out.line(line)
        if (page.nextCursor !== null) out.note(`more: --cursor ${page.nextCursor}`)
      })
    })
}

function filtersOf(flags: ListFlags, session: Session): ListOptions {
  const used = FILTERS.filter((name) => flags[name] !== undefined).map((name) => [name, flags[name]])
  const filters: ListOptions = Object.fromEntries(used)
  return flags.since === undefined ? filters : { ...filters, since: readSince(flags.since, session) }
}

/** `get ID`: prints one alarm. */
export function addGet(program: Command, shell: CliContext): void {
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
      out.print({ json: () => wireJson(alarm), human: () => alarmCard(alarm, session, out.width) })
    })
  })
}
