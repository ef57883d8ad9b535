import { formatDuration } from '../time/index.ts'

/** One thing that a doctor looked at. */
export interface Check {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
  /** What would help, where it is not well. */
  readonly advice?: string
}

/** How late the earliest of a pool may be: beyond this nobody runs its clock, or it cannot keep up. */
const LAG_MS_MAX = 10_000

/** What was found, with advice where it is not well. */
export function check(name: string, ok: boolean, detail: string, advice = ''): Check {
  return ok ? { name, ok, detail } : { name, ok, detail, advice }
}

/** How far a pool's clock lags behind. */
export function lagCheck(pool: string, lagMs: number, pending: number): Check {
  return check(
    `lag of pool ${pool}`,
    lagMs <= LAG_MS_MAX,
    `${formatRounded(lagMs)}, ${formatCount(pending)} pending`,
    'see `wakeful list --order due` and `wakeful why ID` for what is waiting',
  )
}

/** Whether the figures, which are kept as alarms move, equal a recount. */
export function figuresCheck(kept: number, live: number, total: number): Check {
  return check(
    'figures',
    kept === live,
    `${formatCount(live)} live of ${formatCount(total)} ever set`,
    'please report this: the figures are off',
  )
}

/** Whole seconds, of a long time whole minutes, of days whole hours: `1m 30s`. */
export function formatRounded(ms: number): string {
  const unit = ms < 3_600_000 ? 1000 : ms < 86_400_000 ? 60_000 : 3_600_000
  return formatDuration(Math.round(ms / unit) * unit).replace(/(?<=[a-z])(?=\d)/g, ' ')
}

/** A count as it is read: `1,234`. */
export function formatCount(value: number): string {
  return value.toLocaleString('en-US')
}
