import { WakefulError } from '../error.ts'
import { clockNote } from './clock-notes.ts'
import { describe } from './describe.ts'
import { formatInstant } from './instant.ts'
import type { Rule } from './rule.ts'
import { scheduleOf } from './schedule.ts'
import { formatLocal } from './wall-time.ts'
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
  const instants = instantsOf(resolved, count, context.from).map((at, index, all) => {
    const notes = index === 0 ? [...resolved.notes] : []
    if (rule.kind !== 'once')
      notes.push(clockNote(rule, at, all[index - 1] ?? context.from ?? context.now) ?? '')
    const note = notes.filter(Boolean).join('; ')
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
