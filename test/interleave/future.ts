import { occurrenceId } from '../../src/alarm/index.ts'
import type { ClaimedTimer, Settlement } from '../../src/stores/index.ts'
import type { Breach } from './judge.ts'
import type { Note } from './notes.ts'
import type { AlarmRow, EventRow, Rows } from './rows.ts'
import { readRows } from './rows.ts'
import type { World } from './world.ts'

/** Longer than every lease, every report timeout, and the next two occurrences of an hourly alarm. */
const FUTURE_MS = 130 * 60_000
const ROUNDS_MAX = 16
const HOUR_MS = 3_600_000
const ENDS: ReadonlySet<string> = new Set([
  'alarm.fired', 'alarm.skipped', 'alarm.failed', 'alarm.completed', 'alarm.timed_out', 'schedule.ticked',
]) // biome-ignore format: a list

/**
 * Plays the future after a schedule: a new process takes over and delivers whatever is due. What a race has lost shows
 * only then: an occurrence that is never delivered, or delivered again.
 */
export async function playFuture(world: World): Promise<Breach[]> {
  const successor = await world.process('successor')
  const until = world.clock.now() + FUTURE_MS
  world.clock.step(30_000)
  const pools = (await world.ask('SELECT DISTINCT pool FROM wakeful.shards ORDER BY pool')).map(({ pool }) =>
    String(pool),
  )
  const own = () => successor.acquire('successor', pools)
  let leases = await own()
  if (leases.length === 0) return [{ promise: 'liveness', what: 'no process can take over the shard' }]
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const { timers: claimedTimers, nextWakeAt, more } = await successor.claim(leases)
    if (claimedTimers.length > 0) await successor.settle(claimedTimers)
    else if (!more) {
      if (nextWakeAt === null || nextWakeAt > until) return []
      if (nextWakeAt > world.clock.now()) {
        world.clock.step(nextWakeAt - world.clock.now())
        leases = await own()
      }
    }
  }
  return [{ promise: 'liveness', what: `after ${ROUNDS_MAX} rounds something is still due` }]
}

/** Judges the future: everything requested has happened once. */
export async function judgeFuture(world: World): Promise<Breach[]> {
  const rows = await readRows(world)
  return [
    ...rows.alarms.flatMap((alarm) => [...judgeEnd(alarm, rows), ...judgeHours(alarm, rows)]),
    ...judgeClaims(world.notes, rows),
    ...(rows.in_flight_batches.length > 0
      ? [{ promise: 'at-least-once', what: 'a batch is still recorded as in flight' } satisfies Breach]
      : []),
  ]
}

/** A one-time alarm has ended by now, unless it is paused. */
function judgeEnd(alarm: AlarmRow, { outcomes, events }: Rows): Breach[] {
  const status = outcomes.find((outcome) => outcome.alarm === alarm.seq)?.status ?? null
  if (alarm.kind !== 'once' || alarm.paused_at !== null) return []
  if (status === null)
    return [{ promise: 'at-least-once', what: `alarm ${alarm.seq} has not ended: it is lost` }]
  const records = recordsOf(alarm, events).filter(({ type }) => ENDS.has(type))
  const needsRecord = status !== 'cancelled' && alarm.fire_at !== null
  // An immediate fire has another instant than the planned one.
  if (!needsRecord || records.some(({ occurrence }) => occurrence?.startsWith(`${alarm.generation}-`)))
    return []
  return [
    {
      promise: 'at-least-once',
      what: `alarm ${alarm.seq} is ${status}, but has no record of its occurrence ${alarm.generation}-${alarm.fire_at}`,
    },
  ]
}

/** An hourly alarm has a record for every hour, or a skipped range that contains it. */
function judgeHours(alarm: AlarmRow, { events, timers }: Rows): Breach[] {
  if (alarm.kind !== 'every') return []
  const covered = new Set(recordsOf(alarm, events).flatMap((event) => instantsOf(event, alarm.generation)))
  for (const timer of timers) if (timer.alarm === alarm.seq) covered.add(timer.scheduled_for)
  const all = [...covered].sort((a, b) => a - b)
  const gap = all.find((at, index) => index > 0 && at - all[index - 1]! > HOUR_MS)
  if (gap === undefined) return []
  return [
    {
      promise: 'at-least-once',
      what: `alarm ${alarm.seq} skipped occurrences before ${new Date(gap).toISOString()}`,
    },
  ]
}

function instantsOf({ occurrence, type, data }: EventRow, generation: number): number[] {
  const [of, at] = (occurrence ?? '').split('-').map(Number)
  if (of !== generation || at === undefined || !ENDS.has(type)) return []
  const run = JSON.parse(data) as { to?: string; count?: number }
  if (type !== 'alarm.skipped' || run.to === undefined) return [at]
  const instants: number[] = []
  for (let each = at; each <= Date.parse(run.to); each += HOUR_MS) instants.push(each)
  return instants
}

/** Every claimed occurrence has a record, or waits for its next attempt. */
function judgeClaims(notes: readonly Note[], { alarms, events, timers }: Rows): Breach[] {
  const claimed = notes.flatMap((note) => (note.kind === 'claim' ? note.claimed.timers : []))
  return claimed
    .filter((claimedTimer) => !isReleased(notes, claimedTimer))
    .flatMap(({ alarm, timer }): Breach[] => {
      const row = alarms.find(({ id }) => id === alarm.id)
      if (row === undefined) return [{ promise: 'at-least-once', what: `alarm ${alarm.id} is gone` }]
      const name = occurrenceId(alarm, timer)
      const isRecorded = recordsOf(row, events).some(
        ({ occurrence, type }) => ENDS.has(type) && `${alarm.id}-${occurrence}` === name,
      )
      const isOpen = timers.some(
        (each) =>
          each.alarm === row.seq &&
          each.generation === timer.generation &&
          each.scheduled_for === timer.scheduledFor,
      )
      return isRecorded || isOpen
        ? []
        : [{ promise: 'recorded-once', what: `${name} was claimed, but has no record` }]
    })
}

/** Whether it was released before it started, so that no record is expected. */
function isReleased(notes: readonly Note[], { timer }: ClaimedTimer): boolean {
  const isOf = (each: Settlement) => each.timer.id === timer.id && each.timer.version === timer.version
  return notes.some(
    (note) =>
      note.kind === 'settle' &&
      note.settlements.some((each) => each.delivery.kind === 'released' && isOf(each)),
  )
}

function recordsOf(alarm: AlarmRow, events: readonly EventRow[]): EventRow[] {
  return events.filter((event) => event.alarm === alarm.seq)
}
