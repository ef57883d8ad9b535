import type pg from 'pg'
import type { Values } from '../../index.ts'
import type {
  HeartbeatRequest,
  HeartbeatResult,
  ListenCallbacks,
  ListenConnection,
  ListenStatements,
  Timers,
} from '../../sharded/index.ts'
import {
  boundOf,
  type Database,
  endAll,
  hangUp,
  isBroken,
  type Querying,
  Session,
} from '../connection/index.ts'
import type { StoreContext } from '../rows/index.ts'
import * as sql from '../sql/index.ts'

/** LISTEN, and the heartbeat. An answer that takes longer than `answerMsMax` means that the connection is half open. */
export class PostgresListening implements ListenStatements {
  readonly isBroken = isBroken
  readonly #database: Database
  readonly #context: StoreContext
  readonly #answerMsMax: () => number

  constructor(database: Database, context: StoreContext, answerMsMax: () => number) {
    this.#database = database
    this.#context = context
    this.#answerMsMax = answerMsMax
  }

  get canListen(): boolean {
    return !this.#database.isPooled
  }

  listenConnection(callbacks: ListenCallbacks): ListenConnection {
    return new Connection(this.#database, this.#context, this.#answerMsMax(), callbacks)
  }

  heartbeat(request: HeartbeatRequest): Promise<HeartbeatResult> {
    return heartbeat(this.#database.session, request, this.#context.moment())
  }
}

class Connection implements ListenConnection {
  readonly #timers: Timers
  readonly #context: StoreContext
  readonly #client: pg.Client
  readonly #session: Session

  constructor(
    database: Database,
    context: StoreContext,
    answerMsMax: number,
    { onNotice, onLost }: ListenCallbacks,
  ) {
    this.#timers = database.timers
    this.#context = context
    this.#client = database.dedicated()
    this.#client.on('error', onLost)
    this.#client.on('end', onLost)
    this.#client.on('notification', ({ payload }) => onNotice(payload ?? ''))
    const bound = boundOf(database.timers, this.#client, answerMsMax)
    this.#session = new Session(this.#client as Querying, database.dialect, true, bound)
  }

  async listen(): Promise<void> {
    await this.#client.connect()
    await this.#session.plain(`LISTEN "${this.#context.channel}"`)
  }

  heartbeat(request: HeartbeatRequest): Promise<HeartbeatResult> {
    return heartbeat(this.#session, request, this.#context.moment())
  }

  close(): Promise<void> {
    const goodbye = this.#client.end().catch(() => {})
    return endAll(this.#timers, goodbye, () => [this.#client])
  }

  drop(): void {
    this.#client.end().catch(() => {})
    hangUp(this.#client)
  }
}

/** Sends a heartbeat. The counters of a new row start at random. */
async function heartbeat(
  session: Session,
  { process, pools, leaseMs, wakesFrom }: HeartbeatRequest,
  moment: number | null,
): Promise<HeartbeatResult> {
  const countsFrom = Math.floor(Math.random() * 2 ** 48)
  return resultOf(await session.rows(sql.heartbeat, process, pools, leaseMs, moment, countsFrom, wakesFrom))
}

type HeartbeatValues = [string, string, number | null, number, string | null, readonly string[] | null]

/** Reads the rows of a heartbeat, in any order. */
function resultOf(rows: readonly Values[]): HeartbeatResult {
  const of = (kind: string) => (rows as readonly HeartbeatValues[]).filter(([each]) => each === kind)
  const [row] = of('heartbeat')
  return {
    takeovers: row![2]!,
    now: row![3],
    nextWakes: new Map(of('next').map(([, , wakeAt, shard]) => [shard, wakeAt])),
    others: of('owner').map(([, process, heartbeats, leaseUntil, , pools]) => {
      return { process, heartbeats: heartbeats!, leaseUntil, pools: pools ?? [] }
    }),
    shards: of('shard').map(([, pool, shard, epoch, holder]) => ({ pool, shard: shard!, epoch, holder })),
  }
}
