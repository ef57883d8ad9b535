import type { LogRecord } from '../judge/evidence.ts'
import { recordOf } from '../judge/occurrence-row.ts'
import type { Scope } from './alarm-plan.ts'
import { type Backend, type Connected, EFFECT } from './backend.ts'
import type { Network } from './network.ts'
import type { SimulatedProcess } from './process.ts'
import type { SimulatedDatabase } from './store/database.ts'
import { SimulatedStore } from './store/store.ts'
import { ALL, scopedName } from './store/tables.ts'

/** Options of the simulated backend. */
export interface SimulatedBackendOptions {
  readonly database: SimulatedDatabase
  readonly network: Network
  readonly leaseMs?: number | undefined
  readonly heartbeatMs?: number | undefined
}

/** The in-memory database at the other end of the network. */
export class SimulatedBackend implements Backend {
  readonly database: SimulatedDatabase
  readonly #options: SimulatedBackendOptions

  constructor(options: SimulatedBackendOptions) {
    this.database = options.database
    this.#options = options
  }

  async connect(process: SimulatedProcess): Promise<Connected> {
    const { database, network, leaseMs, heartbeatMs } = this.#options
    const store = new SimulatedStore({
      database,
      process: process.name,
      clock: process.clock,
      wire: (name, statement, run) => network.statement(process, name, statement, run),
      ...(leaseMs !== undefined && { leaseMs }),
      ...(heartbeatMs !== undefined && { heartbeatMs }),
    })
    await store.open()
    return { store, clock: store.clock }
  }

  cutOff(process: SimulatedProcess): void {
    this.database.cutOff(process.name)
  }

  fillDisk(onRefused: () => void): () => void {
    return this.database.fill(onRefused)
  }

  lockShard(n: number): () => void {
    const { database } = this
    const shards = database.shardsIn()
    const tx = database.begin('user')
    if (shards.length > 0)
      database.within(tx, () => database.lockIfFree('shard_edits', shards[n % shards.length]!.shard))
    return () => database.rollback(tx)
  }

  crash(): void {
    this.database.crash()
  }

  ownerOf(alarmId: string): string | null {
    const { alarmIds, timersOfAlarm, timers, shards } = this.database.tables
    const [first] = timersOfAlarm.in(alarmIds.get(alarmId)!)
    return first === undefined ? null : (shards.get(timers.get(first.key)!.timer.shard)?.holder ?? null)
  }

  inFlight(process: string): number {
    const { inFlight, shards } = this.database.tables
    let count = 0
    for (const { shard, timers } of inFlight.values())
      if (shards.get(shard)?.holder === process) count += timers.length
    return count
  }

  logEnd(): number {
    return Number(this.database.tables.allEvents.in(ALL).at(-1)?.key ?? 0)
  }

  records(): LogRecord[] {
    const { allEvents, events, alarms } = this.database.tables
    return allEvents.in(ALL).flatMap(({ key }) => {
      const { alarm, occurrence, at, type, data } = events.get(key)!
      const alarmId = alarm === null ? undefined : alarms.get(alarm)?.id
      if (occurrence === null || alarmId === undefined) return []
      return recordOf({ seq: Number(key), at, type, alarm_id: alarmId, occurrence, data })
    })
  }

  logPositionsOf(scope: Scope, until: number): number[] {
    const { eventsOfOwner, events } = this.database.tables
    const places = eventsOfOwner.in(scopedName(scope)).map(({ key }) => key)
    return places.filter((place) => events.get(place)!.at <= until).map(Number)
  }

  effects(): string[] {
    const labels = this.database.tables.alarms.values().map(({ label }) => label ?? '')
    return labels.filter((label) => label.startsWith(EFFECT)).map((label) => label.slice(EFFECT.length))
  }

  overdue(before: number): string[] {
    const { timers, alarms, events, eventsOfAlarm } = this.database.tables
    const claimed = this.#claimed()
    return timers.values().flatMap(({ alarm, timer }) => {
      const { id, updatedAt } = alarms.get(alarm)!
      const lastEvent = eventsOfAlarm.in(alarm).at(-1)
      const lastEventAt = lastEvent === undefined ? 0 : events.get(lastEvent.key)!.at
      const isOverdue = timer.wakeAt !== null && Math.max(timer.wakeAt, updatedAt, lastEventAt) < before
      return isOverdue && !claimed.has(timer.id)
        ? [`${id} (${timer.kind}) was to wake at ${timer.wakeAt}`]
        : []
    })
  }

  /** The timers that the current lease holders have in flight. */
  #claimed(): ReadonlySet<unknown> {
    const { inFlight, shards } = this.database.tables
    const own = inFlight.values().filter(({ shard, epoch }) => shards.get(shard)?.epoch === epoch)
    return new Set(own.flatMap(({ timers }) => timers.map(([id]) => id)))
  }
}
