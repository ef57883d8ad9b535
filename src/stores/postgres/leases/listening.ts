import type { Values } from '../../index.ts'
import type {
  HeartbeatRequest,
  HeartbeatResult,
  ListenCallbacks,
  ListenConnection,
  ListenStatements,
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
export function listenStatements(
  database: Database,
  context: StoreContext,
  answerMsMax: () => number,
): ListenStatements {
  return {
    isBroken,
    canListen: !database.isPooled,
    listenConnection: (callbacks) => listenConnection(database, context, answerMsMax(), callbacks),
    heartbeat: (request) => heartbeat(database.session, request, context.clockOverride()),
  }
}

function listenConnection(
  database: Database,
  context: StoreContext,
  answerMsMax: number,
  { onNotice, onLost }: ListenCallbacks,
): ListenConnection {
  const client = database.dedicated()
  client.on('error', onLost)
  client.on('end', onLost)
  client.on('notification', ({ payload }) => onNotice(payload ?? ''))
  const bound = boundOf(database.timers, client, answerMsMax)
  const session = new Session(client as Querying, database.dialect, true, bound)
  const goodbye = () => client.end().catch(() => {})
  return {
    async listen() {
      await client.connect()
      await session.plain(`LISTEN "${context.channel}"`)
    },
    heartbeat: (request) => heartbeat(session, request, context.clockOverride()),
    close: () => endAll(database.timers, goodbye(), () => [client]),
    drop() {
      void goodbye()
      hangUp(client)
    },
  }
}

/** Sends a heartbeat. The counters of a new row start at random. */
async function heartbeat(
  session: Session,
  { process, pools, leaseMs, wakesFrom }: HeartbeatRequest,
  clockOverride: number | null,
): Promise<HeartbeatResult> {
  const countsFrom = Math.floor(Math.random() * 2 ** 48)
  return resultOf(
    await session.rows(sql.heartbeat, process, pools, leaseMs, clockOverride, countsFrom, wakesFrom),
  )
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
