import type pg from 'pg'
import type { Values } from '../../index.ts'
import type {
  HeartbeatRequest,
  HeartbeatResult,
  ListenCallbacks,
  ListenConnection,
  ListenStatements,
} from '../../sharded/index.ts'
import { type Database, endAll, hangUp, isBroken, type Querying, Session } from '../connection/index.ts'
import * as sql from '../sql/index.ts'

/** What listening needs from its store. */
export interface ListeningPorts {
  readonly database: Database
  readonly channel: string
  /** An answer that takes longer means that the connection is half open. */
  readonly answerMsMax: () => number
  /** The time to bind where the database's clock is not the authority; else null. */
  readonly moment: () => number | null
}

/** LISTEN, and the heartbeat. */
export class PostgresListening implements ListenStatements {
  readonly isBroken = isBroken
  readonly #ports: ListeningPorts

  constructor(ports: ListeningPorts) {
    this.#ports = ports
  }

  get canListen(): boolean {
    return !this.#ports.database.isPooled
  }

  listenConnection(callbacks: ListenCallbacks): ListenConnection {
    return new Connection(this.#ports, callbacks)
  }

  heartbeat(request: HeartbeatRequest): Promise<HeartbeatResult> {
    return heartbeat(this.#ports.database.session, request, this.#ports.moment())
  }
}

class Connection implements ListenConnection {
  readonly #ports: ListeningPorts
  readonly #client: pg.Client
  readonly #session: Session

  constructor(ports: ListeningPorts, { onNotice, onLost }: ListenCallbacks) {
    const { database, answerMsMax } = ports
    this.#ports = ports
    this.#client = database.dedicated(answerMsMax())
    this.#client.on('error', onLost)
    this.#client.on('end', onLost)
    this.#client.on('notification', ({ payload }) => onNotice(payload ?? ''))
    this.#session = new Session(this.#client as Querying, database.dialect)
  }

  async listen(): Promise<void> {
    await this.#client.connect()
    await this.#client.query(`LISTEN "${this.#ports.channel}"`)
  }

  heartbeat(request: HeartbeatRequest): Promise<HeartbeatResult> {
    return heartbeat(this.#session, request, this.#ports.moment())
  }

  close(): Promise<void> {
    return endAll(
      this.#ports.database.timers,
      this.#client.end().catch(() => {}),
      () => [this.#client],
    )
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
