import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import { PgBoss } from 'pg-boss'
import { PAYLOAD } from '../bed.ts'
import { onDatabase } from './bed.ts'

/** Another scheduler on PostgreSQL, at its best settings: those with which it was fastest on the same machine. */
export interface Peer {
  readonly name: 'graphile-worker' | 'pg-boss'
  readonly url: string
  one(at: Date): Promise<unknown>
  bulk(count: number, at: Date): Promise<unknown>
  /** Runs everything that is due; answers when nothing of it is left, with what stops the worker. */
  drain(count: number): Promise<() => Promise<unknown>>
  close(): Promise<void>
}

const TASK = 'noop'
const CONNECTIONS_MAX = 10
const SOON = "now() + interval '1 day'"

/** graphile-worker: jobs are fetched a thousand at a time and completed in batches; it deletes them, so no history is kept. */
export async function graphile(url: string): Promise<Peer> {
  const logger = new Logger(() => (level, message) => {
    if (level === 'error') console.error('graphile-worker:', message)
  })
  const utils = await makeWorkerUtils({ connectionString: url, maxPoolSize: CONNECTIONS_MAX, logger })
  await utils.migrate()
  return {
    name: 'graphile-worker',
    url,
    one: (at) => utils.addJob(TASK, PAYLOAD, { runAt: at }),
    bulk: (count, at) =>
      utils.addJobs(Array.from({ length: count }, () => ({ identifier: TASK, payload: PAYLOAD, runAt: at }))),
    async drain(count) {
      const all = counter(count)
      const runner = await run({
        preset: {
          worker: {
            connectionString: url,
            logger,
            concurrentJobs: 10,
            maxPoolSize: CONNECTIONS_MAX,
            localQueue: { size: 1000 },
            completeJobBatchDelay: 5,
            failJobBatchDelay: 0,
          },
        },
        noHandleSignals: true,
        taskList: { [TASK]: async () => all.hit() },
        parsedCronItems: [],
      })
      await all.done
      await until(url, `SELECT 1 FROM graphile_worker._private_jobs WHERE run_at < ${SOON} LIMIT 1`)
      return () => runner.stop()
    },
    async close() {
      await utils.release()
    },
  }
}

/** pg-boss: two fetchers of 2,000 jobs each, without a pause while batches are full. */
export async function pgBoss(url: string): Promise<Peer> {
  const boss = new PgBoss({ connectionString: url, max: CONNECTIONS_MAX })
  boss.on('error', (error) => console.error('pg-boss:', error.message))
  await boss.start()
  await boss.createQueue(TASK, { retentionSeconds: 60 * 86_400 })
  return {
    name: 'pg-boss',
    url,
    one: (at) => boss.send(TASK, PAYLOAD, { startAfter: at }),
    bulk: (count, at) =>
      boss.insert(
        TASK,
        Array.from({ length: count }, () => ({ data: PAYLOAD, startAfter: at })),
      ),
    async drain(count) {
      const all = counter(count)
      await boss.work(
        TASK,
        { batchSize: 2000, localConcurrency: 2, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 },
        async (jobs) => {
          for (const _ of jobs) all.hit()
        },
      )
      await all.done
      await until(
        url,
        `SELECT 1 FROM pgboss.job WHERE name = '${TASK}' AND state < 'completed' AND start_after < ${SOON} LIMIT 1`,
      )
      return () => boss.offWork(TASK)
    },
    close: () => boss.stop({ graceful: false, close: true }),
  }
}

function counter(count: number) {
  const { promise, resolve } = Promise.withResolvers<void>()
  let left = count
  return {
    done: promise,
    hit() {
      left -= 1
      if (left === 0) resolve()
    },
  }
}

/** Waits until a statement finds nothing any more. */
export function until(url: string, statement: string): Promise<void> {
  return onDatabase(url, async (client) => {
    while ((await client.query(statement)).rowCount !== 0)
      await new Promise((resolve) => setTimeout(resolve, 5))
  })
}
