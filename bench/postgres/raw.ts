import pg from 'pg'
import { ALARM_COLUMNS, TIMER_COLUMNS, type Values } from '../../src/stores/index.ts'
import {
  type Bindable,
  Dialect,
  type Querying,
  Session,
} from '../../src/stores/postgres/connection/session.ts'
import { EVENT_SEPARATOR, insertAlarmsParams } from '../../src/stores/postgres/rows/write-batch.ts'
import { POSITION_COLUMNS, TALLIED } from '../../src/stores/postgres/sql/columns.ts'
import { insertAlarms } from '../../src/stores/postgres/sql/new-alarms.ts'
import * as sql from '../../src/stores/postgres/sql/queries.ts'
import { indexOf, insertColumns } from '../statement-columns.ts'
import { BATCH, batches } from '../workload.ts'

/** Owners' figures are spread over several rows, so that writers do not wait for each other. */
const TALLY_SLOTS = 8
const [ID, ALARM, SHARD, WAKE_AT, VERSION] = [
  TIMER_COLUMNS.indexOf('id'),
  TIMER_COLUMNS.indexOf('alarm'),
  TIMER_COLUMNS.indexOf('shard'),
  TIMER_COLUMNS.indexOf('wake_at'),
  TIMER_COLUMNS.indexOf('version'),
]
const OUTCOME_COLUMNS = insertColumns(sql.putOutcomes)
const EVENT_COLUMNS = insertColumns(sql.insertEvents)
const PLANS = 'SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET jit = off'

type Value = string | number | null

/** The rows that Wakeful wrote for its first alarms: the loop copies them. */
interface Models {
  readonly alarm: readonly Value[]
  /** The columns of `POSITION_COLUMNS`. */
  readonly timer: readonly Value[]
  readonly outcome: readonly Value[]
  readonly event: readonly Value[]
}

/**
 * The limit of the store: the same statements on the same tables, indexes and rows, in a bare loop on one connection that
 * sends each transaction in one go. It makes no decisions, calls no handler, records no batch in flight, checks the lease
 * but does not renew it, and does not read the alarms.
 */
export class Raw {
  readonly #client: pg.Client
  readonly #session: Session
  readonly #models: Models
  readonly #shards: readonly number[]
  #serial = 0

  private constructor(client: pg.Client, session: Session, models: Models, shards: readonly number[]) {
    this.#client = client
    this.#session = session
    this.#models = models
    this.#shards = shards
  }

  /** The database must hold the rows that `writeModelRows` leaves behind. */
  static async open(url: string): Promise<Raw> {
    const client = new pg.Client({ connectionString: url, pipeline: true } as pg.ClientConfig)
    await client.connect()
    await client.query(PLANS)
    const session = new Session(client as unknown as Querying, new Dialect('wakeful'))
    const shards = await session.rows(sql.shardsOfPools, ['app'])
    return new Raw(
      client,
      session,
      await readModels(session),
      shards.map(([, shard]) => shard as number),
    )
  }

  /** Inserts alarms with their timers, this many per commit. */
  async insert(count: number, perCommit: number): Promise<void> {
    const { alarm, timer } = this.#models
    const [id, correlationId] = [indexOf(ALARM_COLUMNS, 'id'), indexOf(ALARM_COLUMNS, 'correlation_id')]
    for (const size of batches(count, perCommit)) {
      // An alarm's correlation id is its own id by default; any other value would cost an index entry more.
      const alarms = this.#ids(size).map((own) => alarm.with(id, own).with(correlationId, own))
      const timers = alarms.map(() => [this.#shards[this.#serial++ % this.#shards.length]!, ...timer])
      await this.#commit(() => {
        this.#session.send(insertAlarms, ...insertAlarmsParams(alarms, timers))
        this.#tally({ total: size, pending: size })
      })
    }
  }

  /** Reads what is due and settles it: deletes the timers, writes events, outcomes and figures, checks the epoch. */
  async readAndSettle(count: number): Promise<void> {
    const shardRows = await this.#session.rows('SELECT shard, epoch FROM wakeful.shards')
    const epochs = new Map(shardRows.map(([shard, epoch]) => [shard, epoch as number]))
    const ownEpochs = this.#shards.map((shard) => epochs.get(shard)!)
    const perShard = Math.ceil(BATCH / this.#shards.length)
    const lowerBounds = this.#shards.map(() => [0, 0] as [wakeAt: number, id: number])
    for (let done = 0; done < count; ) {
      const rows = await this.#session.rows(
        sql.dueTimers,
        this.#shards,
        lowerBounds.map(([wakeAt]) => wakeAt),
        lowerBounds.map(([, id]) => id),
        Date.now(),
        perShard,
        BATCH,
      )
      if (rows.length === 0) throw new Error(`Only ${done} of ${count} rows were due`)
      this.#raise(lowerBounds, rows)
      await this.#commit(() => {
        this.#session.send(sql.shareShards, this.#shards, ownEpochs)
        this.#settle(rows)
        this.#tally({ pending: -rows.length, fired: rows.length, duration_count: rows.length })
      })
      done += rows.length
    }
  }

  /** How many timers of the pool are due. After `readAndSettle` that must be none. */
  async dueCount(): Promise<number> {
    const row = await this.#session.row(
      'SELECT count(*) FROM wakeful.timers WHERE shard = ANY($1::int[]) AND wake_at <= $2::bigint',
      this.#shards,
      Date.now(),
    )
    return Number(row![0])
  }

  close(): Promise<void> {
    return this.#client.end()
  }

  /** The next query starts behind the last row that was read of each shard, as Wakeful's does. */
  #raise(lowerBounds: [wakeAt: number, id: number][], rows: readonly Values[]): void {
    const indexOfShard = new Map(this.#shards.map((shard, index) => [shard, index]))
    for (const row of rows)
      lowerBounds[indexOfShard.get(row[SHARD] as number)!] = [row[WAKE_AT] as number, row[ID] as number]
  }

  #settle(rows: readonly Values[]): void {
    const { outcome, event } = this.#models
    const all = (value: Value) => rows.map(() => value)
    const read = (column: number) => rows.map((row) => row[column] as number)
    const send = (text: string, values: readonly Bindable[]) => this.#session.send(text, ...values)
    send(sql.removeClaimedTimers, [read(ID), read(VERSION)])
    const outcomes = outcome.map(all).with(indexOf(OUTCOME_COLUMNS, 'alarm'), read(ALARM))
    send(sql.putOutcomes, outcomes)
    const data = indexOf(EVENT_COLUMNS, 'data')
    const events: Bindable[] = event
      .map(all)
      .with(indexOf(EVENT_COLUMNS, 'id'), this.#ids(rows.length))
      .with(indexOf(EVENT_COLUMNS, 'correlation_id'), this.#ids(rows.length))
      .with(indexOf(EVENT_COLUMNS, 'alarm'), read(ALARM))
    send(sql.insertEvents, events.with(data, all(event[data]!).join(EVENT_SEPARATOR)))
  }

  #tally(sums: Readonly<Partial<Record<(typeof TALLIED)[number], number>>>): void {
    const lists = TALLIED.map((column) => [sums[column] ?? 0])
    this.#session.send(sql.addTallies, this.#serial % TALLY_SLOTS, ['default'], [''], ...lists)
  }

  /** Sends all statements of a transaction together. */
  async #commit(work: () => void): Promise<void> {
    this.#session.send('BEGIN')
    work()
    this.#session.send('COMMIT')
    await this.#session.acknowledged()
  }

  #ids(count: number): string[] {
    return Array.from({ length: count }, () => {
      this.#serial += 1
      return `${Date.now().toString(16).padStart(12, '0')}-raw-${String(this.#serial).padStart(19, '0')}`
    })
  }
}

async function readModels(session: Session): Promise<Models> {
  const first = async (columns: readonly string[], table: string, order: string) => {
    const row = await session.row(
      `SELECT ${columns.join(', ')} FROM wakeful.${table} ORDER BY ${order} LIMIT 1`,
    )
    if (row === undefined) throw new Error(`wakeful.${table} is empty: write the model rows first`)
    return row as readonly Value[]
  }
  return {
    alarm: await first(ALARM_COLUMNS, 'alarms', 'seq'),
    timer: await first(POSITION_COLUMNS, 'timers', 'id'),
    outcome: await first(OUTCOME_COLUMNS, 'outcomes', 'alarm'),
    event: await first(EVENT_COLUMNS, 'events', 'seq'),
  }
}
