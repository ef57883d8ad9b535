import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../postgres/server.ts'
import { ask } from '../postgres-evidence.ts'
import { idle, STATEMENT_LOG } from './idle.ts'
import { logReaders } from './log-readers.ts'
import { migrateConcurrently } from './migrate.ts'
import { openSnapshot } from './open-snapshot.ts'
import { cutOff, spreads, takeovers } from './ownership.ts'

/**
 * The short forms; the long ones are `npm run test:chaos -- --store postgres --measure all`. Each has its own database,
 * and all but one run concurrently, because they mostly wait.
 */
let server: PostgresServer
const seed = Number(process.env.CHAOS_SEED ?? Date.now() % 1_000_000)

beforeAll(async () => {
  server = await startPostgres(STATEMENT_LOG)
  for (const name of ['log', 'snapshot', 'takeover', 'spread', 'idle', 'migrate'])
    await ask(server.url(), `CREATE DATABASE ${name}_test`)
  await ask(server.url(), `ALTER DATABASE idle_test SET log_statement = 'all'`)
})

afterAll(() => server.stop())

/** Runs before the others, which would delay it. */
test('a snapshot that stays open causes no backlog', { timeout: 400_000 }, async () => {
  // Other work on this machine may delay it, too. A growing backlog shows every time.
  for (let attempt = 1; ; attempt++) {
    const found = await openSnapshot({
      url: server.url('snapshot_test'),
      seconds: 10,
      perSecond: 300,
      deadRows: 90_000,
    })
    console.log(`open snapshot: ${JSON.stringify(found)}`)
    expect(found.fired).toBe(found.set)
    if (found.lastMedian < 1_000) break
    expect(attempt).toBeLessThan(3)
  }
})

describe.concurrent('several processes on one database', { timeout: 400_000 }, () => {
  test('a reader by cursor misses no event of transactions that commit late', async () => {
    const found = await logReaders({
      url: server.url('log_test'),
      seed,
      events: 4_000,
      perTransactionMax: 60,
      longMs: 4_000,
    })
    expect({ seed, ...found }).toMatchObject({ seed, missed: [0, 0], readTwice: [0, 0] })
    expect(found.written).toBeGreaterThanOrEqual(4_000)
    expect(found.commitsOutOfOrder).toBeGreaterThan(0)
  })

  test('shards of a crashed process are taken over when its lease ends, and those of a closed one at once', async () => {
    const { crashMs, closeMs } = await takeovers(server.url('takeover_test'))
    console.log(`takeover after ${Math.round(crashMs)} ms, handover after ${Math.round(closeMs)} ms`)
    // The duration is measured by the long form: here other work may delay everything.
    expect(Math.max(crashMs, closeMs)).toBeLessThan(60_000)
  })

  test('shards are spread evenly when processes join and leave', async () => {
    const { joinMs, leaveMs } = await spreads(server.url('spread_test'), 5)
    expect([joinMs.length, leaveMs.length]).toEqual([5, 4])
  })

  test('a process that is cut off starts nothing after its lease has ended (fenced)', async () => {
    // A busy machine may have delivered everything before the cut, which proves nothing.
    for (let attempt = 1; ; attempt++) {
      await ask(server.url(), `CREATE DATABASE cut_${attempt}_test`)
      const found = await cutOff(server.url(`cut_${attempt}_test`), server.port)
      expect(found.startedTooLate).toBe(0)
      if (found.startedAfter > 0 && found.left > 0) break
      expect(attempt, JSON.stringify(found)).toBeLessThan(4)
    }
  })

  test('an idle process sends its heartbeat and nothing else', async () => {
    // A machine that delays a process for seconds costs it its lease, which causes more statements: then try again.
    for (let attempt = 1; ; attempt++) {
      const found = await idle(server.url('idle_test'), server.logPath, 12)
      expect(found.perSecond).toBeGreaterThan(0)
      // One more than one every two seconds: the first may be at the edge.
      if (found.others.length === 0 && found.perSecond <= 7 / 12) break
      expect(attempt, found.others.join('\n')).toBeLessThan(4)
    }
  })

  test('ten processes open a fresh database at once', async () => {
    const found = await migrateConcurrently(server.url('migrate_test'), 10)
    expect(found).toMatchObject({ failed: 0, alarms: 10 })
    expect(new Set(found.migrations)).toEqual(new Set([1]))
    expect(new Set(found.shards)).toEqual(new Set([64]))
  })
})
