import pg from 'pg'
import { ALARM_COLUMNS, TIMER_COLUMNS, type Values } from '../../src/stores/index.ts'
import {
  type Bindable,
  Dialect,
  type Querying,
  Session,
} from '../../src/stores/postgres/connection/session.ts'
import { insertAlarms, newAlarmLists } from '../../src/stores/postgres/rows/new-alarms.ts'
import { BETWEEN } from '../../src/stores/postgres/rows/row-writes.ts'
import * as sql from '../../src/stores/postgres/sql/queries.ts'

const BATCH = 1000
const FAR = 4_000_000_000_000
const [ID, ALARM, VERSION] = ['id', 'alarm', 'version'].map((name) =>
  TIMER_COLUMNS.indexOf(name as never),
) as [number, number, number]
const PLANS = 'SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET jit = off'

/**
 * The limit of the store: the same statements on the same tables, indexes and rows, in a bare loop on one connection, each
 * transaction sent in one go. No decisions, no handler, no flight, no lease but its check; alarms are not even read.
 */
export class Raw {
  readonly #client: pg.Client
  readonly #session: Session
  readonly #model: readonly (string | number | null)[]
  readonly #shards: readonly number[]
  #serial = 0

  private constructor(client: pg.Client, session: Session, model: Values, shards: readonly number[]) {
    this.#client = client
    this.#session = session
    this.#model = model as (string | number | null)[]
    this.#shards = shards
  }

  /** The database must hold at least one alarm of the handler `noop`: its row is the model of all others. */
  static async open(url: string): Promise<Raw> {
    const client = new pg.Client({ connectionString: url, pipeline: true } as pg.ClientConfig)
    await client.connect()
    await client.query(PLANS)
    const session = new Session(client as unknown as Querying, new Dialect('wakeful'))
    const columns = ALARM_COLUMNS.join(', ')
    const model = await session.row(`SELECT ${columns} FROM wakeful.alarms WHERE target = 'noop' LIMIT 1`)
    const shards = await session.rows(sql.shardsOfPools, ['app'])
    return new Raw(
      client,
      session,
      model!,
      shards.map(([, shard]) => shard as number),
    )
  }

  /** Inserts alarms with their timers, so many to a commit. */
  async insert(count: number, perCommit: number): Promise<void> {
    const idAt = ALARM_COLUMNS.indexOf('id')
    for (let done = 0; done < count; done += perCommit) {
      const ids = Array.from({ length: perCommit }, () => this.#id())
      const place = ['due', FAR, FAR, null, null, null, 1, 1, 0, null, null, 0]
      const alarms = ids.map((id) => this.#model.with(idAt, id))
      const timers = ids.map(() => [this.#shards[this.#serial++ % this.#shards.length]!, ...place])
      await this.#commit(() => {
        this.#session.send(insertAlarms, ...newAlarmLists(alarms, timers))
        this.#tally(perCommit)
      })
    }
  }

  /** Reads what is due and settles it: timers deleted, events, outcomes and figures written, the epoch checked. */
  async readAndSettle(count: number): Promise<void> {
    const epochs = new Map(
      (await this.#session.rows('SELECT shard, epoch FROM wakeful.shards')).map(([shard, epoch]) => [
        shard,
        epoch,
      ]),
    )
    const held = this.#shards.map((shard) => epochs.get(shard) as number)
    const perShard = Math.ceil(BATCH / this.#shards.length)
    const lows = this.#shards.map(() => [0, 0] as [number, number])
    for (let done = 0; done < count; ) {
      const now = Date.now()
      const rows = await this.#session.rows(
        sql.dueTimers,
        this.#shards,
        lows.map(([wakeAt]) => wakeAt),
        lows.map(([, id]) => id),
        now,
        perShard,
        BATCH,
      )
      if (rows.length === 0) throw new Error(`only ${done} of ${count} rows were due`)
      this.#follow(rows, lows)
      await this.#commit(() => {
        this.#session.send(sql.shareShards, this.#shards, held)
        this.#settle(rows, now)
        this.#tally(-rows.length)
      })
      done += rows.length
    }
  }

  close(): Promise<void> {
    return this.#client.end()
  }

  #follow(rows: readonly Values[], lows: [number, number][]): void {
    const [shardAt, wakeAt] = [TIMER_COLUMNS.indexOf('shard'), TIMER_COLUMNS.indexOf('wake_at')]
    const placeOf = new Map(this.#shards.map((shard, place) => [shard, place]))
    for (const row of rows)
      lows[placeOf.get(row[shardAt] as number)!] = [row[wakeAt] as number, row[ID] as number]
  }

  #settle(rows: readonly Values[], now: number): void {
    const data =
      '{"scheduled_for":"2026-01-01T00:00:00.000Z","fired_at":"2026-01-01T00:00:00.000Z","drift_ms":1,"attempt":1,"duration_ms":0}'
    const all = (value: string | number | null) => rows.map(() => value)
    const of = (column: number) => rows.map((row) => row[column] as number)
    const { send } = { send: (text: string, ...values: Bindable[]) => this.#session.send(text, ...values) }
    const scope = [all('default'), all('')]
    const ids = () => rows.map(() => this.#id())
    send(sql.removeTakenTimers, of(ID), of(VERSION))
    const outcome = ['fired', now, now, now, 0, null, null, 0, 1].map(all)
    send(sql.putOutcomes, of(ALARM), ...scope, all('noop'), ...outcome)
    const names = [all('alarm.fired'), all('caused'), of(ALARM), all('1-1767225600000'), all(null), ids()]
    send(sql.insertEvents, ids(), ...scope, ...names, all(now), all(data).join(BETWEEN))
  }

  #tally(pending: number): void {
    const fired = Math.max(0, -pending)
    const sums = [Math.max(0, pending), pending, fired, 0, 0, 0, 0, 0, fired]
    this.#session.send(sql.addTallies, this.#serial % 8, ['default'], [''], ...sums.map((sum) => [sum]))
  }

  /** Everything of a transaction travels together. */
  async #commit(work: () => void): Promise<void> {
    this.#session.send('BEGIN')
    work()
    this.#session.send('COMMIT')
    await this.#session.landed()
  }

  #id(): string {
    this.#serial += 1
    return `${Date.now().toString(16).padStart(12, '0')}-raw-${String(this.#serial).padStart(19, '0')}`
  }
}
