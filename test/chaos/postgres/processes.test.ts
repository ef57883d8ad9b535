import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../postgres/server.ts'
import { ask } from '../postgres-evidence.ts'
import { heldSnapshot } from './held-snapshot.ts'
import { idle, STATEMENT_LOG } from './idle.ts'
import { logReaders } from './log-readers.ts'
import { cutOff, spreads, takeovers } from './ownership.ts'
import { together } from './together.ts'

/**
 * The short forms; the long ones are `npm run test:chaos -- --store postgres --measure all`. Each has a database of its
 * own, and all but one run side by side: they wait more than they work. Times are bounded for machines that do much else.
 */
let server: PostgresServer
const seed = Number(process.env.CHAOS_SEED ?? Date.now() % 1_000_000)

beforeAll(async () => {
  server = await startPostgres(STATEMENT_LOG)
  for (const name of ['log', 'snapshot', 'takeover', 'spread', 'idle', 'together'])
    await ask(server.url(), `CREATE DATABASE ${name}_test`)
  await ask(server.url(), `ALTER DATABASE idle_test SET log_statement = 'all'`)
})

afterAll(() => server.stop())

/** Before the others, which would make it late. */
test('a snapshot that is held open makes no backlog', { timeout: 400_000 }, async () => {
  // Other work on this machine makes it late too, now and then; a backlog that grows does so every time.
  for (let tries = 1; ; tries++) {
    const found = await heldSnapshot({
      url: server.url('snapshot_test'),
      seconds: 10,
      perSecond: 300,
      deadRows: 90_000,
    })
    console.log(`held snapshot: ${JSON.stringify(found)}`)
    expect(found.fired).toBe(found.set)
    if (found.lastMedian < 1_000) break
    expect(tries).toBeLessThan(3)
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

  test('what a crashed process had is taken over when its lease ends, and what a closed one had at once', async () => {
    const { crashMs, closeMs } = await takeovers(server.url('takeover_test'))
    console.log(`takeover after ${Math.round(crashMs)} ms, hand-over after ${Math.round(closeMs)} ms`)
    // How long it takes is a figure of the long form: here other work may hold everything up.
    expect(Math.max(crashMs, closeMs)).toBeLessThan(60_000)
  })

  test('shards are spread evenly when processes join and leave', async () => {
    const { joinMs, leaveMs } = await spreads(server.url('spread_test'), 5)
    expect([joinMs.length, leaveMs.length]).toEqual([5, 4])
  })

  test('an owner that is cut off starts nothing after its lease has ended (fenced)', async () => {
    // A machine that does much else may have delivered everything before the cut: that proves nothing.
    for (let tries = 1; ; tries++) {
      await ask(server.url(), `CREATE DATABASE cut_${tries}_test`)
      const found = await cutOff(server.url(`cut_${tries}_test`), server.port)
      expect(found.startedTooLate).toBe(0)
      if (found.startedAfter > 0 && found.left > 0) break
      expect(tries, JSON.stringify(found)).toBeLessThan(4)
    }
  })

  test('an idle process sends its heartbeat and nothing else', async () => {
    // A machine that holds a process up for seconds costs it its lease, and that more statements: then once more.
    for (let tries = 1; ; tries++) {
      const found = await idle(server.url('idle_test'), server.logPath, 12)
      expect(found.perSecond).toBeGreaterThan(0)
      // One more than every two seconds: the first may fall on the edge.
      if (found.others.length === 0 && found.perSecond <= 7 / 12) break
      expect(tries, found.others.join('\n')).toBeLessThan(4)
    }
  })

  test('ten processes open a fresh database at once', async () => {
    const found = await together(server.url('together_test'), 10)
    expect(found).toMatchObject({ failed: 0, alarms: 10 })
    expect(new Set(found.migrations)).toEqual(new Set([1]))
    expect(new Set(found.shards)).toEqual(new Set([64]))
  })
})
