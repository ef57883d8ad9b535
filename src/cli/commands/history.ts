import { type Command, Option } from 'commander'
import type { HistoryOptions, StatsView } from '../../index.ts'
import { wireText } from '../../library/index.ts'
import { HISTORY_STATUSES } from '../../seeds/index.ts'
import { humanizeDuration } from '../../time/index.ts'
import { addCommand, readSince, wholeNumber } from '../arguments/index.ts'
import { type Session, withSession } from '../session/index.ts'
import type { CliContext } from '../terminal/index.ts'
import { card, count, historyColumns, wireItems } from '../text/index.ts'

/** These are the statuses of `stats`, which differ from those of `list`. */
const STATUS_HELP =
  'only alarms with this status of `stats`; fired: delivered, awaiting a report; completed: reported, or delivered without a report'

type HistoryFlags = Omit<HistoryOptions, 'since'> & { readonly since?: string }

/** `history`, `failed` and `stats`: the outcomes of alarms. */
export function addHistory(program: Command, shell: CliContext): void {
  addCommand(program, 'history', 'list alarms by outcome, newest first', [
    'history --status completed --limit 10',
    'history --target remind --since 2026-11-01T00:00Z --json',
  ])
    .addOption(new Option('--status <status>', STATUS_HELP).choices(HISTORY_STATUSES))
    .option('--target <name>', 'only alarms with this target')
    .option('--process <name>', 'another name for --target')
    .option('--since <time>', 'only alarms created since a time, or within a duration (2h)')
    .option('--limit <n>', 'maximum number of alarms (default 50)', wholeNumber(1, 500))
    .action(async (flags: HistoryFlags, self: Command) => {
      await withSession(shell, self, 'existing', async (session) =>
        printItems(session, await session.alarms.history(filtersOf(flags, session))),
      )
    })
  addCommand(program, 'failed', 'list the newest failures', ['failed --limit 5'])
    .option('--limit <n>', 'maximum number of alarms (default 20)', wholeNumber(1, 500))
    .action(async (flags: { limit?: number }, self: Command) => {
      const options = flags.limit === undefined ? {} : { limit: flags.limit }
      await withSession(shell, self, 'existing', async (session) =>
        printItems(session, await session.alarms.failed(options)),
      )
    })
  addCommand(program, 'stats', 'count alarms by outcome', ['stats --json']).action(
    async (_flags: unknown, self: Command) => {
      await withSession(shell, self, 'existing', async ({ alarms, out }) => {
        const stats = await alarms.stats()
        out.print({ json: () => wireText(stats), human: () => statsCard(stats) })
      })
    },
  )
}

function filtersOf(flags: HistoryFlags, session: Session): HistoryOptions {
  const names = ['status', 'target', 'process', 'limit'] as const
  const used = names.filter((name) => flags[name] !== undefined).map((name) => [name, flags[name]])
  const filters: HistoryOptions = Object.fromEntries(used)
  return flags.since === undefined ? filters : { ...filters, since: readSince(flags.since, session) }
}

function printItems(session: Session, items: Awaited<ReturnType<Session['alarms']['history']>>): void {
  const { out } = session
  if (out.json) out.line(wireItems(items))
  else if (items.length === 0) out.note('no alarms')
  else for (const line of out.rows([historyColumns(session)], items)) out.line(line)
}

function statsCard(stats: StatsView): string[] {
  return card([
    ['total', count(stats.total)],
    ['pending', count(stats.pending)],
    ['fired, report awaited', count(stats.fired)],
    ['completed', count(stats.completed)],
    ['failed', count(stats.failed)],
    ['cancelled', count(stats.cancelled)],
    ['timed out', count(stats.timeoutUnknown)],
    ['average duration', stats.avgDurationMs === null ? '' : humanizeDuration(stats.avgDurationMs)],
  ])
}
