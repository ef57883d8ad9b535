import { expect, test } from 'vitest'
import type { ClaimedTimer, Settlement, Store } from '../stores/index.ts'
import type { Dispatcher } from '../targets/index.ts'
import { VirtualClock } from '../testing/index.ts'
import { DeliveryPool } from './delivery-pool.ts'

const lease = { shard: 1, pool: 'app', holder: 'me', epoch: 1, until: 0 }
const claimedAt = (wakeAt: number) =>
  ({
    lease,
    batch: { id: 1, shard: 1 },
    alarm: { target: { kind: 'handler' }, timeoutMs: null },
    timer: { id: 1, version: 1, wakeAt },
  }) as unknown as ClaimedTimer

/** Does something while the transaction of a handler that is due now is waited for. */
async function whileWaiting(clock: VirtualClock, happen: (lose: () => void) => void) {
  const opened = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  let isLeased = true
  let starts = 0
  const pool = new DeliveryPool({
    store: {
      async transact(_: unknown, work: (tx: unknown) => Promise<Settlement>) {
        await opened.promise
        await work({})
        return { lost: [], stale: 0 }
      },
    } as unknown as Store,
    dispatcher: {
      isTransactional: () => true,
      timeoutMs: () => 1_000,
      async deliver() {
        starts += 1
        return { report: null }
      },
    } as unknown as Dispatcher,
    clock,
    concurrency: 1,
    admission: { enter: () => {}, leave: () => {} },
    mayStart: () => (isLeased ? 'yes' : 'lost'),
    context: () => ({ now: 0, graceMs: 60_000, random: () => 0, newId: () => 'id' }),
    onEnded: () => ended.resolve(),
  })
  pool.accept([claimedAt(clock.now())])
  happen(() => {
    isLeased = false
  })
  opened.resolve()
  await ended.promise
  return { starts, ended: pool.drain().ended }
}

test('a transactional handler does not start when its lease ended while its transaction was waited for (fenced)', async () => {
  const { starts, ended } = await whileWaiting(new VirtualClock(), (lose) => lose())
  expect(starts).toBe(0)
  expect(ended).toMatchObject([{ delivery: { kind: 'released' } }])
})

// Found by the simulation on a SQLite file (test/simulation/sqlite), seed 27 of 15 November 2026.
test('nor when the clock was set back meanwhile, and its instant is yet to come (never-early)', async () => {
  const clock = new VirtualClock()
  const { starts, ended } = await whileWaiting(clock, () => clock.jump(-1_000))
  expect(starts).toBe(0)
  expect(ended).toMatchObject([{ delivery: { kind: 'released' } }])
})

test('a batch is finished only when all of its timers have ended, also where one was handed back at once (at-least-once)', async () => {
  const clock = new VirtualClock()
  const delivered = Promise.withResolvers<{ report: null }>()
  const pool = new DeliveryPool({
    store: {} as Store,
    dispatcher: {
      isTransactional: () => false,
      timeoutMs: () => 1_000,
      deliver: () => delivered.promise,
    } as unknown as Dispatcher,
    clock,
    concurrency: 2,
    admission: { enter: () => {}, leave: () => {} },
    mayStart: () => 'yes',
    context: () => ({ now: 0, graceMs: 60_000, random: () => 0, newId: () => 'id' }),
    onEnded: () => {},
  })
  const due = claimedAt(clock.now())
  const early = { ...claimedAt(clock.now() + 1), batch: due.batch }
  pool.acceptReserved([early, due])
  expect(pool.drain()).toMatchObject({ ended: [{ claimed: early }], finishedBatches: [] })
  delivered.resolve({ report: null })
  await clock.turn()
  expect(pool.drain()).toMatchObject({ ended: [{ claimed: due }], finishedBatches: [due.batch] })
})
