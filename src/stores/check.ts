import { formatDuration } from '../time/index.ts'

/** The result of one check of `doctor`. */
export interface Check {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
  /** What to do if it is not ok. */
  readonly advice?: string
}

/** How late a pool's earliest timer may be. Beyond this no process serves the pool, or it cannot keep up. */
const LAG_MS_MAX = 10_000

/** A check, with advice if it is not ok. */
export function check(name: string, ok: boolean, detail: string, advice = ''): Check {
  return ok ? { name, ok, detail } : { name, ok, detail, advice }
}

/** How late a pool's earliest timer is. */
export function lagCheck(pool: string, lagMs: number, pending: number): Check {
  return check(
    `lag of pool ${pool}`,
    lagMs <= LAG_MS_MAX,
    `${formatRounded(lagMs)}, ${formatCount(pending)} pending`,
    'see `wakeful list --order due` and `wakeful why ID` for what is waiting',
  )
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
