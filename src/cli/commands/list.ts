import type { Command } from 'commander'
import { ALARM_FIELDS, type AlarmView, FILTER_NAMES, ownedWireJson, wireJson } from '../../alarm/index.ts'
import { flagOf } from '../../config/index.ts'
import { WakefulError } from '../../error.ts'
import type { HistoryOptions, ListOptions } from '../../index.ts'
import { wireText, withoutUndefined } from '../../library/index.ts'
import { HISTORY_STATUSES, LIST_STATUSES, TIMED_OUT } from '../../seeds/index.ts'
import { humanizeDuration } from '../../time/index.ts'
import { addCommand, choice, clauses, readSince, wholeNumber } from '../arguments/index.ts'
import {
  type AcrossFlags,
  addAcrossOptions,
  alarmsAction,
  readsOf,
  type Session,
  withSession,
} from '../session/index.ts'
import type { CliContext } from '../terminal/index.ts'
import {
  type Column,
  card,
  count,
  historyColumns,
  listColumns,
  wireItems,
  withOwners,
} from '../text/index.ts'

const ORDERS = ['newest', 'due']
/** Statuses of alarms without a next instant, which `--order due` cannot sort. */
const WITHOUT_INSTANT: readonly unknown[] = [
  'paused',
  'completed',
  'failed',
  'timed_out',
  TIMED_OUT,
  'cancelled',
]

/** These are the statuses of `stats`, which differ from those of `list`. */
const HISTORY_STATUS_HELP =
  'only alarms with this status of `stats`; fired: delivered, awaiting a report; completed: reported, or delivered without a report'

/** The options of a list as flags: `since` is text. */
type Flags<Options> = Omit<Options, 'since'> & { readonly since?: string }

/** `list`: the alarms of the owner, one page at a time. */
export function addList(program: Command, cli: CliContext): void {
  const command = addCommand(program, 'list', 'list alarms, newest first', [
    'list --status active --order due',
    'list --q standup --since 24h --json',
  ]).addOption(choice('--status <status>', 'only alarms with this status', LIST_STATUSES))
  for (const name of FILTER_NAMES)
    command.option(`${flagOf(name)} <text>`, clauses(ALARM_FIELDS[name].filter))
  command
    .option('--target <name>', 'only alarms with this target')
    .option('--q <words>', 'words to search for in label, message, key and subject')
    .option('--since <time>', 'only alarms created since a time, or within a duration (2h)')
    .addOption(
      choice(
        '--order <order>',
        'newest: newest first; due: only alarms that will fire, the next one first',
        ORDERS,
      ),
    )
    .option('--limit <n>', 'maximum number of alarms (default 50; capped at 500)', wholeNumber(1))
    .option('--cursor <cursor>', 'the cursor of the next page')
  addAcrossOptions(command).action(
    async ({ allOwners, allTenants, ...flags }: Flags<ListOptions> & AcrossFlags, self: Command) => {
      if (flags.order === 'due' && WITHOUT_INSTANT.includes(flags.status))
        throw new WakefulError('list.order_without_instant', { status: flags.status! }, { field: 'order' })
      await withSession(cli, self, 'existing', async (session) => {
        const across = withoutUndefined({ allOwners, allTenants })
        const alarms = readsOf(session, across)
        const { items, nextCursor } = await alarms.list(readFilters(flags, session))
        printItems(session, listColumns(session), items, across, { next_cursor: nextCursor })
        if (nextCursor !== null && !session.out.json) session.out.note(`more: --cursor ${nextCursor}`)
      })
    },
  )
}

/** `history` and `failed`: alarms by outcome. */
export function addHistory(program: Command, cli: CliContext): void {
  const history = addCommand(program, 'history', 'list alarms by outcome, newest first', [
    'history --status completed --limit 10',
    'history --target remind --since 2026-11-01T00:00Z --json',
  ])
    .addOption(choice('--status <status>', HISTORY_STATUS_HELP, HISTORY_STATUSES))
    .option('--target <name>', 'only alarms with this target')
    .option('--process <name>', 'another name for --target')
    .option('--since <time>', 'only alarms created since a time, or within a duration (2h)')
    .option('--limit <n>', 'maximum number of alarms (default 50; capped at 500)', wholeNumber(1))
  addAcrossOptions(history).action(
    alarmsAction(cli, 'existing', async (session, flags: Flags<HistoryOptions> & AcrossFlags) => {
      const { allOwners, allTenants, ...filters } = flags
      const across = withoutUndefined({ allOwners, allTenants })
      const items = await readsOf(session, across).history(readFilters(filters, session))
      printItems(session, historyColumns(session), items, across)
    }),
  )
  const failed = addCommand(program, 'failed', 'list the newest failures', [
    'failed --limit 5',
    'failed --all-owners',
  ]).option('--limit <n>', 'maximum number of alarms (default 20; capped at 500)', wholeNumber(1))
  addAcrossOptions(failed).action(
    alarmsAction(cli, 'existing', async (session, flags: { limit?: number } & AcrossFlags) => {
      const { allOwners, allTenants, ...options } = flags
      const across = withoutUndefined({ allOwners, allTenants })
      printItems(session, historyColumns(session), await readsOf(session, across).failed(options), across)
    }),
  )
}

function readFilters<Options extends object>(flags: Flags<Options>, session: Session) {
  const { since } = flags
  return { ...flags, ...(since !== undefined && { since: readSince(since, session) }) }
}

function printItems(
  session: Session,
  columns: readonly (readonly Column<AlarmView>[])[],
  items: readonly AlarmView[],
  { allOwners, allTenants }: AcrossFlags,
  more: Readonly<Record<string, unknown>> = {},
): void {
  const { out } = session
  const isWide = allOwners !== undefined || allTenants !== undefined
  const sets = isWide ? columns.map((set) => withOwners(set, allTenants === true)) : columns
  if (items.length === 0 && !out.json) out.note('no alarms')
  else out.print(wireItems(items, isWide ? ownedWireJson : wireJson, more), () => out.rows(sets, items))
}

/** `stats`: the number of alarms with each outcome. */
export function addStats(program: Command, cli: CliContext): void {
  const command = addCommand(program, 'stats', 'count alarms by outcome', [
    'stats --json',
    'stats --all-owners',
  ])
  addAcrossOptions(command).action(
    alarmsAction(cli, 'existing', async (session, flags: AcrossFlags) => {
      const { out } = session
      const stats = await readsOf(session, flags).stats()
      const averageMs = stats.avgDurationMs
      out.print(wireText(stats), () =>
        card([
          ['total', count(stats.total)],
          ['pending', count(stats.pending)],
          ['fired, report awaited', count(stats.fired)],
          ['completed', count(stats.completed)],
          ['failed', count(stats.failed)],
          ['cancelled', count(stats.cancelled)],
          ['timed out', count(stats.timeoutUnknown)],
          ['average duration', averageMs === null ? '' : humanizeDuration(averageMs)],
        ]),
      )
    }),
  )
}
