import { type Command, Option } from 'commander'
import type { HistoryOptions, StatsView } from '../../index.ts'
import { wireText } from '../../library/index.ts'
import { HISTORY_STATUSES } from '../../seeds/index.ts'
import { humanizeDuration } from '../../time/index.ts'
import { addCommand, readSince, wholeNumber } from '../arguments/index.ts'
import { type Session, withSession } from '../session/index.ts'
import type { Shell } from '../terminal/index.ts'
import { card, count, historyColumns, wireItems } from '../text/index.ts'

/** The words of `stats`, which are not quite those of `list`. */
const STATUS_HELP =
  'only those that `stats` counts so; fired: delivered, report awaited; completed: reported, or delivered where no report is asked for'

type HistoryFlags = Omit<HistoryOptions, 'since'> & { readonly since?: string }

/** `history`, `failed` and `stats`: what came of alarms. */
export function addHistory(program: Command, shell: Shell): void {
  addCommand(program, 'history', 'what came of alarms, newest first', [
    'history --status completed --limit 10',
    'history --target remind --since 2026-11-01T00:00Z --json',
  ])
    .addOption(new Option('--status <status>', STATUS_HELP).choices(HISTORY_STATUSES))
    .option('--target <name>', 'only those with this target')
    .option('--process <name>', 'another name for --target')
    .option('--since <time>', 'only those created since a time, or so long ago (2h)')
    .option('--limit <n>', 'at most so many (default 50)', wholeNumber(1, 500))
    .action(async (flags: HistoryFlags, self: Command) => {
      await withSession(shell, self, 'existing', async (session) =>
        printItems(session, await session.alarms.history(filtersOf(flags, session))),
      )
    })
  addCommand(program, 'failed', 'the newest failures', ['failed --limit 5'])
    .option('--limit <n>', 'at most so many (default 20)', wholeNumber(1, 500))
    .action(async (flags: { limit?: number }, self: Command) => {
      const options = flags.limit === undefined ? {} : { limit: flags.limit }
      await withSession(shell, self, 'existing', async (session) =>
        printItems(session, await session.alarms.failed(options)),
      )
    })
  addCommand(program, 'stats', 'figures over all alarms', ['stats --json']).action(
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
  const given = names.filter((name) => flags[name] !== undefined).map((name) => [name, flags[name]])
  const filters: HistoryOptions = Object.fromEntries(given)
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
