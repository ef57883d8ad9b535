import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { alarmOf, type StoredAlarm } from '../../../src/stores/index.ts'
import { Session } from '../../../src/stores/sqlite/connection/connection.ts'
import { connect, openSqliteOn } from '../../../src/stores/sqlite/index.ts'
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

/** Called at each point of every transaction of a process, before anything else acts on it. */
type Watcher = (process: SimulatedProcess, role: Role, point: Point) => void

/** An in-memory file system if there is one: a simulation needs no disk. */
const FAST = '/dev/shm'
const TRY_AGAIN_MS = 7
const PAGES_MAX = 4_294_967_294

/** How processes share the file. Settings left out are those of production. */
export interface SqliteBackendOptions {
  readonly leaseMs?: number | undefined
  readonly heartbeatMs?: number | undefined
}

/** One real database file, with the connections of all processes. */
export class SqliteBackend implements Backend {
  readonly #world: World
  readonly #options: SqliteBackendOptions
  readonly #folder = mkdtempSync(join(existsSync(FAST) ? FAST : tmpdir(), 'wakeful-simulation-'))
  readonly #path = join(this.#folder, 'alarms.db')
  readonly #connections = new Map<SimulatedProcess, SimulatedConnection[]>()
  readonly #watchers = new Set<Watcher>()
  /** How to stop each foreign program that has locked the file or waits for it. */
  readonly #strangers = new Set<() => void>()
  /** The test's connection, which only reads committed data. */
  readonly #observer: Session
  /** Called for every write that finds the disk full; null while there is space. */
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

  /** What the operating system does for a dead process: its files are closed and its locks released. */
  cutOff(process: SimulatedProcess): void {
    // There is no network between a process and a file.
    if (!process.isDead) return
    this.#closeAll(process)
  }

  /** Calls a watcher when a transaction begins or ends. Returns how to stop. */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /**
   * A foreign program takes the file's write lock as soon as it is free, and holds it for a while. `markHit` is called
   * when a writer has to wait for it.
   */
  lockFile(ms: number, markHit: MarkHit): void {
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

  /** Releases all foreign locks. */
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
      this.#world.note('disk', 'has space again')
    }
  }

  /** Whether a transactional handler of this process is running. */
  isInTransaction(process: SimulatedProcess): boolean {
    return this.#of(process).some((each) => each.role === 'handler' && each.isOpen && each.isTransaction)
  }

  ownerOf(alarmId: string): string | null {
    return this.#observer.get<{ owner: string | null }>(sql.ownerOf, alarmId)?.owner ?? null
  }

  inFlight(process: string): number {
    const inFlight = this.#observer.all<InFlightBatchRow>(sql.batchesOf, process)
    return inFlight.reduce((count, batch) => count + batchTimers(batch).length, 0)
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
        .all<InFlightBatchRow>(sql.currentBatches)
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

  /** All alarms. */
  alarms(): StoredAlarm[] {
    return this.#observer.values(sql.alarms).map((row) => alarmOf(row))
  }

  /** The whole log, oldest first. */
  log(): AlarmEvent[] {
    return this.#observer.all<AlarmEvent>(sql.log)
  }

  /** Corruption of the file, checked after all processes closed. */
  damage(): string[] {
    return sqliteDamage(this.#path)
  }

  /** Removes the file's path from a text, because it differs in every run. */
  withoutPath(text: string): string {
    return text.replaceAll(this.#folder, '')
  }

  /** Closes all connections and removes the file. */
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
      this.#world.note('stranger', `locks the file for at most ${ms} ms`)
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

  /** Makes SQLite return SQLITE_FULL for a write that needs another page. */
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
