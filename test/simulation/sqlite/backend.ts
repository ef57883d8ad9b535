import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { alarmOf, type StoredAlarm } from '../../../src/stores/index.ts'
import { Session } from '../../../src/stores/sqlite/connection/session.ts'
import { connect } from '../../../src/stores/sqlite/index.ts'
import { openSqliteOn } from '../../../src/stores/sqlite/open.ts'
import { batchTimers, type InFlightBatchRow } from '../../../src/stores/sqlite/rows/snapshots.ts'
import { sqliteDamage } from '../../chaos/sqlite-evidence.ts'
import type { LogRecord } from '../../judge/evidence.ts'
import { type OccurrenceRow, recordOf } from '../../judge/occurrence-row.ts'
import type { Scope } from '../alarm-plan.ts'
import { type Backend, type Connected, EFFECT } from '../backend.ts'
import type { AlarmEvent } from '../endings.ts'
import type { MarkHit } from '../faults.ts'
import type { SimulatedProcess } from '../process.ts'
import type { World } from '../world.ts'
import { type Point, type Role, SimulatedConnection } from './connection.ts'
import * as sql from './queries.ts'
import { hostClock, SimulatedSystem } from './system.ts'

/** Told of every transaction of a process at each of its points, before anybody else acts on it. */
type Watcher = (process: SimulatedProcess, role: Role, point: Point) => void

/** A file system in memory, where there is one: nothing that is simulated needs a disk. */
const FAST = '/dev/shm'
const TRY_AGAIN_MS = 7
const PAGES_MAX = 4_294_967_294

/** How processes share the file's clocks; what is left out is as in production. */
export interface SqliteBackendOptions {
  readonly leaseMs?: number | undefined
  readonly heartbeatMs?: number | undefined
}

/** One real database file, with the connections every process of the world has to it. */
export class SqliteBackend implements Backend {
  readonly #world: World
  readonly #options: SqliteBackendOptions
  readonly #folder = mkdtempSync(join(existsSync(FAST) ? FAST : tmpdir(), 'wakeful-simulation-'))
  readonly #path = join(this.#folder, 'alarms.db')
  readonly #connections = new Map<SimulatedProcess, SimulatedConnection[]>()
  readonly #watchers = new Set<Watcher>()
  /** How to send away each stranger who has the file, or waits for it. */
  readonly #strangers = new Set<() => void>()
  /** The world's own connection, which reads what is committed and changes nothing. */
  readonly #observer: Session
  /** Told of whoever finds the disk full; null while there is room. */
  #onRefused: (() => void) | null = null

  constructor(world: World, options: SqliteBackendOptions = {}) {
    this.#world = world
    this.#options = options
    this.#observer = new Session(connect(this.#path))
  }

  async connect(process: SimulatedProcess): Promise<Connected> {
    const system = new SimulatedSystem(process, this.#world.timeline, (path, options) => {
      const role = path !== this.#path ? 'lock' : this.#of(process).some(isQueue) ? 'handler' : 'queue'
      const isDead = () => process.isDead
      const reach = (as: Role, point: Point) => this.#reach(process, as, point)
      const refuse = () => this.#onRefused?.()
      const connection = new SimulatedConnection(path, options, role, { reach, refuse, isDead })
      this.#of(process).push(connection)
      if (role !== 'lock') this.#limit(connection)
      return connection
    })
    const clock = hostClock(process)
    const { leaseMs, heartbeatMs } = this.#options
    const store = await openSqliteOn(system, {
      path: this.#path,
      clock,
      ...(leaseMs !== undefined && { leaseMs }),
      ...(heartbeatMs !== undefined && { heartbeatMs }),
    })
    return { store, clock }
  }

  /** What the operating system does for a process that died: its files are closed, and its locks are free. */
  cutOff(process: SimulatedProcess): void {
    // Between a process and a file there are no links that could break.
    if (!process.isDead) return
    this.#closeAll(process)
  }

  /** Lets somebody act at the very moment a transaction begins or ends. Answers how to stop. */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /**
   * Somebody else, who knows nothing of Wakeful, has the file's write lock for a while, as soon as it is free. It is told
   * when somebody who wants to write meets it.
   */
  hold(ms: number, markHit: MarkHit): void {
    const stranger = connect(this.#path)
    const stop = this.watch((_, role, point) => {
      if (role !== 'lock' && point === 'begins' && stranger.isTransaction) markHit()
    })
    const leave = () => {
      stop()
      if (stranger.isOpen) stranger.close()
      this.#strangers.delete(leave)
    }
    this.#strangers.add(leave)
    this.#world.in(ms, leave)
    this.#lock(stranger, ms)
  }

  /** From here on nobody waits for anybody. */
  calm(): void {
    this.#watchers.clear()
    for (const leave of [...this.#strangers]) leave()
  }

  fillDisk(onRefused: () => void): () => void {
    this.#onRefused = onRefused
    this.#limitAll()
    return () => {
      this.#onRefused = null
      this.#limitAll()
      this.#world.note('disk', 'has room again')
    }
  }

  /** Whether a transactional handler of this process is under way. */
  isInTransaction(process: SimulatedProcess): boolean {
    return this.#of(process).some((each) => each.role === 'handler' && each.isOpen && each.isTransaction)
  }

  ownerOf(alarmId: string): string | null {
    return this.#observer.get<{ owner: string | null }>(sql.ownerOf, alarmId)?.owner ?? null
  }

  inFlight(process: string): number {
    const flights = this.#observer.all<InFlightBatchRow>(sql.flightsOf, process)
    return flights.reduce((count, flight) => count + batchTimers(flight).length, 0)
  }

  logEnd(): number {
    return this.#observer.get<{ seq: number | null }>(sql.logEnd)?.seq ?? 0
  }

  records(): LogRecord[] {
    return this.#observer.all<OccurrenceRow>(sql.occurrences).map(recordOf)
  }

  logPositionsOf({ tenant, owner }: Scope, until: number): number[] {
    return this.#observer.all<{ seq: number }>(sql.logPositionsOf, tenant, owner, until).map(({ seq }) => seq)
  }

  effects(): string[] {
    const rows = this.#observer.all<{ label: string }>(sql.labels, `${EFFECT}%`)
    return rows.map(({ label }) => label.slice(EFFECT.length))
  }

  overdue(before: number): string[] {
    const flying = new Set(
      this.#observer
        .all<InFlightBatchRow>(sql.ownFlights)
        .flatMap(batchTimers)
        .map(([id]) => id),
    )
    const rows = this.#observer.all<{ id: number; alarm: string; kind: string; at: number }>(
      sql.overdue,
      before,
    )
    return rows.flatMap(({ id, alarm, kind, at }) =>
      flying.has(id) ? [] : [`${alarm} (${kind}) was to wake at ${at}`],
    )
  }

  /** Every alarm there is. */
  alarms(): StoredAlarm[] {
    return this.#observer.values(sql.alarms).map((row) => alarmOf(row))
  }

  /** The whole log, oldest first. */
  log(): AlarmEvent[] {
    return this.#observer.all<AlarmEvent>(sql.log)
  }

  /** What is wrong with the file itself, once everybody has closed. */
  damage(): string[] {
    return sqliteDamage(this.#path)
  }

  /** A text without the file's place, which is another every time. */
  placeless(text: string): string {
    return text.replaceAll(this.#folder, '')
  }

  /** Removes the file, with all who still had it open. */
  dispose(): void {
    this.calm()
    for (const process of [...this.#connections.keys()]) this.#closeAll(process)
    this.#observer.db.close()
    rmSync(this.#folder, { recursive: true })
  }

  #lock(stranger: DatabaseSync, ms: number): void {
    if (!stranger.isOpen) return
    try {
      stranger.exec('BEGIN IMMEDIATE')
      this.#world.note('stranger', `holds the file, at most ${ms} ms`)
    } catch {
      this.#world.in(TRY_AGAIN_MS, () => this.#lock(stranger, ms))
    }
  }

  #closeAll(process: SimulatedProcess): void {
    for (const connection of this.#of(process)) if (connection.isOpen) connection.close()
    this.#connections.delete(process)
  }

  #of(process: SimulatedProcess): SimulatedConnection[] {
    let connections = this.#connections.get(process)
    if (connections === undefined) {
      connections = []
      this.#connections.set(process, connections)
    }
    return connections
  }

  #reach(process: SimulatedProcess, role: Role, point: Point): void {
    if (point === 'committed') this.#world.note(process.name, `${role} committed`)
    for (const watcher of [...this.#watchers]) watcher(process, role, point)
  }

  #limitAll(): void {
    for (const connections of this.#connections.values())
      for (const connection of connections)
        if (connection.isOpen && connection.role !== 'lock') this.#limit(connection)
  }

  /** Really gives SQLITE_FULL to whoever needs one more page. */
  #limit(connection: DatabaseSync): void {
    const pages =
      this.#onRefused !== null
        ? this.#observer.get<{ page_count: number }>('PRAGMA page_count')!.page_count
        : PAGES_MAX
    connection.exec(`PRAGMA max_page_count = ${pages}`)
  }
}

function isQueue({ role, isOpen }: SimulatedConnection): boolean {
  return role === 'queue' && isOpen
}
