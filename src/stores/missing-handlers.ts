import { formatInstant } from '../time/index.ts'
import { type Check, check } from './doctor-checks.ts'

/** A handler that no process has registered although alarms with it are due. */
export interface MissingHandler {
  readonly pool: string
  readonly handler: string
  /** When the first of them came due. */
  readonly since: number
}

/** How long something must be due without its handler to be reported: processes start one after the other in a deploy. */
export const HANDLER_MISSING_MS = 60_000
/** How many a check names. */
const NAMED_MAX = 10

/** The check of `doctor`. */
export function handlersCheck(missing: readonly MissingHandler[]): Check {
  const named = missing.slice(0, NAMED_MAX).map(missingText)
  const more = missing.length > NAMED_MAX ? ['and others'] : []
  return check(
    'handlers',
    missing.length === 0,
    missing.length === 0 ? 'everything that is due has its handler' : [...named, ...more].join('; '),
    'start a process that registers it with `handle`, or see `wakeful list --target NAME` and edit or cancel those alarms',
  )
}

/** A missing handler in words. */
export function missingText({ pool, handler, since }: MissingHandler): string {
  return `no process of pool ${pool} has registered the handler ${handler}, for which alarms are due since ${formatInstant(since)}`
}
