import { WakefulError } from '../error.ts'
import { describe } from './describe.ts'
import { formatInstant } from './instant.ts'
import type { Rule } from './rule.ts'
import { intervalOf, scheduleOf } from './schedule.ts'
import { clockChangeNote, formatLocal, stretchAt, zoned } from './wall-time.ts'
import { type Resolved, resolveWhen, type When, type WhenContext } from './when.ts'

/** One instant of a preview, in UTC and as the zone's people write it. */
export interface PreviewedInstant {
  instant: string
  local: string
  note?: string
}

/** What a when comes to, without anything being scheduled. */
export interface Preview {
  timezone: string
  rule: Rule
  description: string
  instants: PreviewedInstant[]
}

const COUNT_DEFAULT = 5
const COUNT_MAX = 1000

/** Shows what a when means: its zone, its rule in words, and its next instants, by default from the first one. */
export function preview(when: When, context: WhenContext & { from?: number; count?: number }): Preview {
  const count = context.count ?? COUNT_DEFAULT
  if (!Number.isInteger(count) || count < 1 || count > COUNT_MAX) {
    throw new WakefulError('invalid_request', `count ${count} is not a whole number from 1 to ${COUNT_MAX}`)
  }
  const resolved = resolveWhen(when, { now: context.now, timezone: context.timezone })
  const { rule } = resolved
  const instants = instantsOf(resolved, count, context.from).map((at, index) => {
    const note =
      rule.kind === 'once' || (index === 0 && resolved.notes.length > 0)
        ? resolved.notes.join('; ')
        : ruleNote(rule, at)
    const shown = { instant: formatInstant(at), local: formatLocal(at, rule.timezone) }
    return note ? { ...shown, note } : shown
  })
  return { timezone: rule.timezone, rule, description: describe(rule), instants }
}

function instantsOf({ rule, first }: Resolved, count: number, from: number | undefined): number[] {
  const schedule = scheduleOf(rule)
  // Occurrences are counted from the first, so a preview from elsewhere cannot tell which is the last.
  const most = rule.kind !== 'once' && from === undefined ? Math.min(count, rule.count ?? count) : count
  const instants: number[] = []
  let at = from === undefined ? first : schedule.next(from - 1)
  while (at !== null && instants.length < most) {
    instants.push(at)
    at = schedule.next(at)
  }
  return instants
}

/** What a clock change does to an instant of a calendar rule; intervals do not care. */
function ruleNote(rule: Rule, at: number): string | undefined {
  if (rule.kind !== 'cron' || intervalOf(rule) !== null) return undefined
  const { start, offset, offsetBefore, end } = stretchAt(rule.timezone, at)
  const { start: _start, end: _end, ...unbounded } = rule
  const asWritten = scheduleOf({ ...unbounded, timezone: 'UTC' })
  const wall = at + offset
  if (offset > offsetBefore && at < start + offset - offsetBefore && asWritten.next(wall - 1) !== wall) {
    return clockChangeNote(at, rule.timezone, zoned('UTC', at + offsetBefore).toPlainDateTime())
  }
  const note = clockChangeNote(at, rule.timezone)
  if (note === undefined) return undefined
  const again = at + offset - stretchAt(rule.timezone, end).offset
  return scheduleOf(unbounded).next(again - 1) === again ? undefined : note
}
