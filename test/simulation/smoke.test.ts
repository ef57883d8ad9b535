import { describe, expect, it } from 'vitest'
import type { StoredAlarm } from '../../src/stores/index.ts'
import { scheduleOf } from '../../src/time/index.ts'
import { type Smoke, smoke } from './smoke.ts'
import type { LoggedRow } from './store/tables.ts'

const ENDS = ['alarm.fired', 'alarm.failed', 'schedule.ticked', 'timer.due_time_reached']
/** What comes due in the last minutes of the day may still be retried. */
const MARGIN_MS = 5 * 60_000

describe('a virtual day of three processes, one of which is killed', () => {
  it('delivers everything, never early, and tells the same story twice', async () => {
    const first = await smoke(1)
    expect(first.ids).toHaveLength(200)
    expect(first.world.trace.text).toContain('killed')
    expect(missing(first)).toEqual([])
    expect(first.deliveries.filter(({ at, scheduledFor }) => at < scheduledFor)).toEqual([])
    const again = await smoke(1)
    expect(again.world.trace.text === first.world.trace.text).toBe(true)
  })

  it('tells another story by another seed', async () => {
    const [one, two] = [await smoke(2), await smoke(3)]
    expect(missing(one)).toEqual([])
    expect(missing(two)).toEqual([])
    expect(one.world.trace.text === two.world.trace.text).toBe(false)
  })
})

/** Occurrences that came due and have no end in the log, or more than one. */
function missing({ world }: Smoke): string[] {
  const { alarms, events } = world.database.tables
  const ended = Map.groupBy(
    events.values().filter(({ type }) => ENDS.includes(type)),
    ({ alarm }) => alarm,
  )
  return alarms.values().flatMap((alarm) => {
    const instants = dueOf(alarm, world.now - MARGIN_MS)
    const told = (ended.get(alarm.seq) ?? []).map(scheduledFor)
    return instants.flatMap((at) => {
      const times = told.filter((each) => each === at).length
      return times === 1 ? [] : [`${alarm.id} ${alarm.rule.kind} at ${new Date(at).toISOString()}: ${times}`]
    })
  })
}

/** The instants of an alarm's rule up to a moment. */
function dueOf({ rule, createdAt }: StoredAlarm, until: number): number[] {
  const schedule = scheduleOf(rule)
  const most = rule.kind === 'once' ? 1 : (rule.count ?? Number.POSITIVE_INFINITY)
  const instants: number[] = []
  let at = schedule.next(createdAt)
  while (at !== null && at <= until && instants.length < most) {
    instants.push(at)
    at = schedule.next(at)
  }
  return instants
}

function scheduledFor({ occurrence }: LoggedRow): number {
  return Number(occurrence!.split('-')[1])
}
