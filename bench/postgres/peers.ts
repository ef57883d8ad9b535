import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import { PgBoss } from 'pg-boss'
import { PAYLOAD } from '../workload.ts'
import { untilEmpty } from './server.ts'

/** Another scheduler on PostgreSQL, with the settings that made it fastest on the machine of the benchmarks. */
export interface Peer {
  readonly name: 'graphile-worker' | 'pg-boss'
  readonly url: string
  insert(at: Date): Promise<unknown>
  insertMany(count: number, at: Date): Promise<unknown>
  /** Runs everything that is due. Resolves when nothing is left, with a function that stops the worker. */
  drain(count: number): Promise<() => Promise<unknown>>
  close(): Promise<void>
}

const TASK = 'noop'
const CONNECTIONS_MAX = 10
const TOMORROW = "now() + interval '1 day'"

/** graphile-worker fetches a thousand jobs at a time and completes them in batches. It deletes them and keeps no history. */
export async function graphileWorker(url: string): Promise<Peer> {
  const logger = new Logger(() => (level, message) => {
    if (level === 'error') console.error('graphile-worker:', message)
  })
  const utils = await makeWorkerUtils({ connectionString: url, maxPoolSize: CONNECTIONS_MAX, logger })
  await utils.migrate()
  return {
    name: 'graphile-worker',
    url,
    insert: (at) => utils.addJob(TASK, PAYLOAD, { runAt: at }),
    insertMany: (count, at) =>
      utils.addJobs(Array.from({ length: count }, () => ({ identifier: TASK, payload: PAYLOAD, runAt: at }))),
    async drain(count) {
      const jobs = countdown(count)
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
        taskList: { [TASK]: async () => jobs.finished(1) },
        parsedCronItems: [],
      })
      await jobs.allFinished
      await untilEmpty(url, `SELECT 1 FROM graphile_worker._private_jobs WHERE run_at < ${TOMORROW} LIMIT 1`)
      return () => runner.stop()
    },
    async close() {
      await utils.release()
    },
  }
}

/** pg-boss runs two fetchers of 2,000 jobs each, which do not pause while their batches are full. */
export async function pgBoss(url: string): Promise<Peer> {
  const boss = new PgBoss({ connectionString: url, max: CONNECTIONS_MAX })
  boss.on('error', (error) => console.error('pg-boss:', error.message))
  await boss.start()
  await boss.createQueue(TASK, { retentionSeconds: 60 * 86_400 })
  return {
    name: 'pg-boss',
    url,
    insert: (at) => boss.send(TASK, PAYLOAD, { startAfter: at }),
    insertMany: (count, at) =>
      boss.insert(
        TASK,
        Array.from({ length: count }, () => ({ data: PAYLOAD, startAfter: at })),
      ),
    async drain(count) {
      const jobs = countdown(count)
      await boss.work(
        TASK,
        { batchSize: 2000, localConcurrency: 2, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 },
        async (batch) => jobs.finished(batch.length),
      )
      await jobs.allFinished
      await untilEmpty(
        url,
        `SELECT 1 FROM pgboss.job WHERE name = '${TASK}' AND state < 'completed' AND start_after < ${TOMORROW} LIMIT 1`,
      )
      return () => boss.offWork(TASK)
    },
    close: () => boss.stop({ graceful: false, close: true }),
  }
}

function countdown(count: number) {
  const { promise, resolve } = Promise.withResolvers<void>()
  let left = count
  return {
    allFinished: promise,
    finished(jobs: number) {
      left -= jobs
      if (left <= 0) resolve()
    },
  }
}
