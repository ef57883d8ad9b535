import { wrongEndingsOf } from '../endings.ts'
import type { FaultCounter } from '../faults.ts'
import type { StartLog } from '../start-log.ts'
import type { World } from '../world.ts'
import type { SqliteBackend } from './backend.ts'
import type { Users } from './users.ts'

/** The result of a run, with all problems found. */
export interface Judgement {
  readonly trace: string
  /** The number of delivery starts. */
  readonly starts: number
  /** The number of log records about occurrences. */
  readonly records: number
  /** The faults injected. */
  readonly faults: FaultCounter
  /** The violations, as text. */
  readonly wrong: readonly string[]
}

/** Judges a world after all processes closed. Everything due by `until` must have ended. */
export function judgementOf(
  world: World<SqliteBackend>,
  startLog: StartLog,
  users: Users,
  until: number,
): Judgement {
  const { backend, trace, faults } = world
  const wrong = [
    ...lost(backend, users, until),
    ...early(startLog),
    ...startLog.unfenced.map(
      ({ occurrenceId, process, owner }) => `unfenced: ${occurrenceId} by ${process}, the owner is ${owner}`,
    ),
    ...startedAfterCancel(startLog, users),
    ...wrongEffects(backend),
    ...backend.overdue(until).map((each) => `overdue: ${each}`),
    ...world.processes.map(({ name }) => `${name} has not closed`),
    ...backend.damage(),
  ]
  return {
    trace: trace.text,
    starts: startLog.starts.length,
    records: backend.records().length,
    faults,
    wrong,
  }
}

/** durable, recorded-once: acknowledged alarms exist, and every occurrence has one ending. */
function lost(backend: SqliteBackend, { ids, cancelling }: Users, until: number): string[] {
  const alarms = backend.alarms()
  const known = new Set(alarms.map(({ id }) => id))
  // It is unknown which occurrences of a cancelled alarm were still owed.
  const owed = alarms.filter(({ id }) => !cancelling.has(id))
  return [
    ...ids.filter((id) => !known.has(id)).map((id) => `lost: ${id} was answered for and is not there`),
    ...wrongEndingsOf(owed, backend.log(), until),
  ]
}

/** never-early: for every attempt, by the machine's clock. */
function early({ starts }: StartLog): string[] {
  const tooSoon = starts.filter(({ at, scheduledFor }) => at < scheduledFor)
  return tooSoon.map(({ occurrenceId, attempt, at }) => `early: ${occurrenceId} attempt ${attempt} at ${at}`)
}

/** cancel-wins. */
function startedAfterCancel({ starts }: StartLog, { cancelled }: Users): string[] {
  return cancelled.flatMap(({ id, outcome, starts: before }) => {
    if (outcome !== 'cancelled') return []
    const later = starts.slice(before).filter(({ occurrenceId }) => occurrenceId.startsWith(id))
    return later.map(({ occurrenceId }) => `after its cancel: ${occurrenceId}`)
  })
}

/** Follow-up alarms of transactional handlers that are missing, duplicated, or present without a settle. */
function wrongEffects(backend: SqliteBackend): string[] {
  const effects = Map.groupBy(backend.effects(), (occurrence) => occurrence)
  const chains = new Set(backend.alarms().flatMap(({ id, target }) => (target.name === 'chain' ? [id] : [])))
  const fired = new Set(
    backend
      .records()
      .filter(({ type, alarmId }) => type === 'alarm.fired' && chains.has(alarmId))
      .map(({ occurrenceId }) => occurrenceId),
  )
  const missing = [...fired].filter((id) => effects.get(id)?.length !== 1)
  const unsettled = [...effects.keys()].filter((id) => !fired.has(id))
  return [
    ...missing.map((id) => `effect: ${id} was settled, with ${effects.get(id)?.length ?? 0} effects`),
    ...unsettled.map((id) => `effect: ${id} left one and was not settled`),
  ]
}
