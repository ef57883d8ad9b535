import {
  type Outcome,
  type Scope,
  type Serial,
  type Snapshot,
  serialOf,
  type Timer,
} from '../../../alarm/index.ts'
import { ALARM_COLUMNS, alarmOf, CorruptRow, type StoredAlarm, timerOf, type Values } from '../../index.ts'
import type { Session } from '../connection/index.ts'
import * as sql from '../sql/index.ts'
import { withCalendars } from './calendars.ts'

/** An alarm with its timers and summary, and its row number. */
export interface StoredSnapshot extends Snapshot {
  readonly alarm: StoredAlarm
}

/** The names of an alarm within its owner. */
export type AlarmName =
  | { readonly id: string }
  | { readonly key: string }
  | { readonly idempotencyKey: string }

/** Reads an alarm by one of its names; undefined if this owner has none (promise: isolated). */
export async function alarmNamed(
  session: Session,
  { tenant, owner }: Scope,
  name: AlarmName,
): Promise<StoredAlarm | undefined> {
  const read = (text: string, value: string) => session.row(text, tenant, owner, value)
  let row: Values | undefined
  if ('id' in name) row = await read(sql.alarmById, name.id)
  else if ('key' in name) row = await read(sql.alarmByKey, name.key)
  else
    row =
      (await read(sql.alarmByIdempotencyKey, name.idempotencyKey)) ??
      (await read(sql.alarmByKeptKey, name.idempotencyKey))
  return row && alarmOf(row)
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
      const inFlight = new Set(timers.filter((timer) => delivering.has(timer)).map(({ id }) => id))
      found.set(seq, { alarm: alarmOf(row), timers, outcome: outcomeIn(row.slice(OUTCOME_AT, -1)), inFlight })
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

function outcomeIn(row: Values): Outcome | null {
  if (row[0] === null) return null
  const [, status, startedAt, lastFiredAt, completedAt, durationMs, result, lastError, ...counts] =
    row as OutcomeValues
  const [failureCount, attempts] = counts
  return {
    status,
    startedAt,
    lastFiredAt,
    completedAt,
    durationMs,
    result,
    lastError,
    failureCount,
    attempts,
  }
}

type OutcomeValues = [
  Serial, Outcome['status'], number | null, number | null, number | null, number | null, string | null, string | null,
  number, number,
] // biome-ignore format: a list

/** The timers that are recorded as in flight. */
export interface RecordedInFlight {
  has(timer: Timer): boolean
}

const NONE_IN_FLIGHT: RecordedInFlight = { has: () => false }

/** Reads what is in flight in these shards. */
export async function readInFlight(session: Session, shards: readonly number[]): Promise<RecordedInFlight> {
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
