import { formatDuration } from '../time/index.ts'
import type { ShardState } from './store.ts'

/** The result of one check of `doctor`. */
export interface Check {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
  /** What to do if it is not ok. */
  readonly advice?: string
}

/** Judges the secret of this environment by the fingerprint of the store's; null if the store has none yet. */
export type SecretJudge = (fingerprint: string | null) => Check

/** How late a pool's earliest timer may be. Beyond this no process serves the pool, or it cannot keep up. */
const LAG_MS_MAX = 10_000

/** A check, with advice if it is not ok. */
export function check(name: string, ok: boolean, detail: string, advice = ''): Check {
  return ok ? { name, ok, detail } : { name, ok, detail, advice }
}

/** Whether a pool's shards have holders, and how late its earliest timer is. `servedBy` names the holders, if it has any. */
export function poolChecks(
  pool: string,
  shards: readonly ShardState[],
  now: number,
  servedBy: (holders: readonly string[], free: readonly ShardState[]) => string,
): Check[] {
  const pendingOf = (some: readonly ShardState[]) => some.reduce((sum, { pending }) => sum + pending, 0)
  const free = shards.filter(({ holder }) => holder === null)
  const holders = [...new Set(shards.flatMap(({ holder }) => holder ?? []))]
  const wakes = shards.flatMap(({ nextWakeAt }) => nextWakeAt ?? [])
  const lagMs = wakes.length === 0 ? 0 : Math.max(0, now - Math.min(...wakes))
  const pending = formatCount(pendingOf(shards))
  const rest = pendingOf(shards) > 0 ? `${pending} pending` : 'and nothing is pending'
  return [
    check(
      `pool ${pool}`,
      pendingOf(free) === 0,
      holders.length === 0 ? `no process serves it, ${rest}` : servedBy(holders, free),
      `start a process that serves pool ${pool}`,
    ),
    check(
      `lag of pool ${pool}`,
      lagMs <= LAG_MS_MAX,
      `${formatRounded(lagMs)}, ${pending} pending`,
      'see `wakeful list --order due` and `wakeful why ID` for what is waiting',
    ),
  ]
}

/** Whether the tallies equal a recount. */
export function figuresCheck(kept: number, live: number, total: number): Check {
  return check(
    'figures',
    kept === live,
    `${formatCount(live)} live of ${formatCount(total)} ever set`,
    'please report this: the tallies are wrong',
  )
}

/** A duration in whole seconds; in minutes above an hour, in hours above a day: `1m 30s`. */
export function formatRounded(ms: number): string {
  const unit = ms < 3_600_000 ? 1000 : ms < 86_400_000 ? 60_000 : 3_600_000
  return formatDuration(Math.round(ms / unit) * unit).replace(/(?<=[a-z])(?=\d)/g, ' ')
}

/** A count with separators: `1,234`. */
export function formatCount(value: number): string {
  return value.toLocaleString('en-US')
}
