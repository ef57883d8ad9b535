import { type ReadScope, type Serial, serialOf, type Timer } from '../../../alarm/index.ts'
import {
  ALARM_COLUMNS,
  type AlarmName,
  alarmOf,
  CorruptRow,
  outcomeOf,
  type StoredSnapshot,
  timerOf,
  type Values,
} from '../../index.ts'
import { contention, properties, type Session } from '../connection/index.ts'
import * as sql from '../sql/index.ts'
import { withCalendars } from './calendars.ts'

/** A timer that wakes within this time may be in a batch that is being claimed now: its edit locks out claims. */
const NEAR_MS = 1_000
/** Timers that come near while this waits for locks are locked with the rest: later would be out of order. */
const SOON_MS = 5_000
const ROUNDS_MAX = 10

/** The row number of an alarm by one of its names; undefined if this scope has none (promise: isolated). */
export async function seqNamed(
  session: Session,
  { tenant, owner }: ReadScope,
  name: AlarmName,
): Promise<Serial | undefined> {
  const find = async (text: string, value: string) =>
    (await seqsNamed(session, text, [{ tenant, owner, name: value }])).get(0)
  if ('id' in name) return find(sql.seqsOfIds, name.id)
  if ('key' in name) return find(sql.seqsOfKeys, name.key)
  return (
    (await find(sql.seqsOfIdempotencyKeys, name.idempotencyKey)) ??
    (await find(sql.seqsOfKeptKeys, name.idempotencyKey))
  )
}

/** The row numbers of alarms by one of their names, by the name's position; those that do not exist are missing. */
export async function seqsNamed(
  session: Session,
  text: string,
  names: readonly (Pick<ReadScope, 'tenant' | 'owner'> & { readonly name: string | null })[],
): Promise<Map<number, Serial>> {
  if (names.length === 0) return new Map()
  const rows = await session.rows(text, ...properties(names, 'tenant', 'owner', 'name'))
  return new Map((rows as [number, Serial][]).map(([place, seq]) => [place - 1, seq]))
}

/** Alarms by row number, with their timers and outcomes. */
export interface Snapshots {
  readonly found: ReadonlyMap<Serial, StoredSnapshot>
  /** Rows that cannot be read, with the reasons. */
  readonly damaged: ReadonlyMap<Serial, CorruptRow>
}

/** The index of the outcome in a row of `snapshotsBySeq`, after the alarm; the timers come last. */
const OUTCOME_AT = 1 + ALARM_COLUMNS.length

/** Reads alarms as of one moment; timers in flight only where a decision needs them. */
export async function readSnapshots(
  session: Session,
  seqs: readonly Serial[],
  known: Promise<RecordedInFlight> | RecordedInFlight = NONE_IN_FLIGHT,
): Promise<Snapshots> {
  if (seqs.length === 0) return { found: new Map(), damaged: new Map() }
  const [delivering, rows] = await Promise.all([known, session.rows(sql.snapshotsBySeq, seqs)])
  const found = new Map<Serial, StoredSnapshot>()
  const damaged = new Map<Serial, CorruptRow>()
  for (const row of rows) {
    const seq = row[0] as Serial
    try {
      const timers = timersIn(row.at(-1) as string | null)
      const outcome = row[OUTCOME_AT] === null ? null : outcomeOf(row.slice(OUTCOME_AT + 1, -1))
      const inFlight = new Set(timers.filter((timer) => delivering.has(timer)).map(({ id }) => id))
      found.set(seq, { alarm: alarmOf(row), timers, outcome, inFlight })
    } catch (thrown) {
      if (!(thrown instanceof CorruptRow)) throw thrown
      damaged.set(seq, thrown)
    }
  }
  await putCalendars(session, found)
  return { found, damaged }
}

/** Adds the calendars that the rules name; most name none. */
async function putCalendars(session: Session, found: Map<Serial, StoredSnapshot>): Promise<void> {
  const snapshots = [...found.values()]
  const alarms = await withCalendars(
    session,
    snapshots.map(({ alarm }) => alarm),
  )
  for (const [index, snapshot] of snapshots.entries()) {
    const alarm = alarms[index]!
    if (alarm !== snapshot.alarm) found.set(alarm.seq, { ...snapshot, alarm })
  }
}

/**
 * Reads alarms for a decision, and locks them until the transaction ends: shards, alarms, timers, each sorted, in the
 * same order everywhere. The shards are locked if a timer is near its instant, so that what is in flight is known
 * (promise: cancel-wins). Otherwise the timer's lock is enough: a claim that finds it due sees that it is locked. So
 * a user transaction that cancels an alarm far ahead does not stop a whole shard.
 */
export async function lockSnapshots(
  session: Session,
  seqs: readonly Serial[],
  clockOverride: () => number | null,
): Promise<Snapshots> {
  if (seqs.length === 0) return { found: new Map(), damaged: new Map() }
  const locked = new Set<number>()
  for (let round = 1; ; round++) {
    const soon = await shardsWaking(session, seqs, clockOverride(), SOON_MS)
    const missing = soon.filter((shard) => !locked.has(shard))
    if (round === 1 && missing.length > 0) session.send(sql.lockShards, missing)
    else await lockLate(session, missing)
    for (const shard of missing) locked.add(shard)
    session.send(sql.lockAlarms, seqs)
    // These statements begin after the locks are acquired, so they see what the locks waited for.
    const [rows, snapshots, still] = await Promise.all([
      session.rows(sql.lockTimersOfAlarms, seqs),
      readSnapshots(session, seqs, readInFlight(session, [...locked])),
      shardsWaking(session, seqs, clockOverride(), NEAR_MS),
    ])
    await session.acknowledged()
    const ids = new Set(rows.map(([id]) => id as Serial))
    const timers = [...snapshots.found.values()].flatMap((snapshot) => snapshot.timers)
    const isWhole = timers.every(({ id }) => ids.has(id)) && still.every((shard) => locked.has(shard))
    // More rounds than ever needed: the alarms keep changing.
    if (isWhole || round === ROUNDS_MAX) return snapshots
  }
}

/**
 * A timer has come near through another edit, and its alarm is locked already: the holder of the shard's lock may
 * wait for it. So this does not wait for the shard; if it is locked, the whole transaction is retried.
 */
async function lockLate(session: Session, shards: readonly number[]): Promise<void> {
  if (shards.length === 0) return
  const free = await session.rows(sql.lockFreeShards, shards)
  if (free.length < shards.length) throw contention('an alarm came near while it was being edited')
}

async function shardsWaking(
  session: Session,
  seqs: readonly Serial[],
  clockOverride: number | null,
  withinMs: number,
): Promise<number[]> {
  const rows = await session.rows(sql.nearShards, seqs, clockOverride, withinMs)
  return rows.map(([shard]) => shard as number)
}

/** The snapshot of one alarm, which must be readable. */
export function snapshotIn({ found, damaged }: Snapshots, seq: Serial): StoredSnapshot | undefined {
  const reason = damaged.get(seq)
  if (reason !== undefined) throw reason
  return found.get(seq)
}

/** The timers of a JSON array, which is null if there are none. */
function timersIn(json: string | null): Timer[] {
  if (json === null) return []
  return (JSON.parse(json) as [string, ...Values][]).map(([id, ...rest]) => timerOf([serialOf(id), ...rest]))
}

/** The timers that are recorded as in flight. */
export interface RecordedInFlight {
  has(timer: Timer): boolean
}

const NONE_IN_FLIGHT: RecordedInFlight = { has: () => false }

/** Reads what is in flight in these shards. */
async function readInFlight(session: Session, shards: readonly number[]): Promise<RecordedInFlight> {
  if (shards.length === 0) return NONE_IN_FLIGHT
  return inFlightIn(await session.rows(sql.inFlightBatchesOfShards, shards))
}

/**
 * Reads in-flight batches. Two may name one timer: it was released, or failed, and was claimed again while others of
 * its first batch were still in flight. The newer batch need not come after the older one, because pages are reused.
 */
export function inFlightIn(rows: readonly Values[]): RecordedInFlight {
  const recorded = new Set(rows.flatMap(([, text]) => batchTimers(text as string)).map(named))
  return { has: ({ id, version }) => recorded.has(named([id, version])) }
}

function named([id, version]: readonly [Serial, number]): string {
  return `${id}:${version}`
}

/** The ids and versions of a batch's timers, which alternate. */
export function batchTimers(text: string): [Serial, number][] {
  const flat = text.split(',').map(serialOf)
  const pairs: [Serial, number][] = []
  for (let i = 0; i + 1 < flat.length; i += 2) pairs.push([flat[i]!, Number(flat[i + 1])])
  return pairs
}
