import { expect, test } from 'vitest'
import type { Settlement, Store, Taking } from '../stores/index.ts'
import type { Courier } from '../targets/index.ts'
import { VirtualClock } from '../testing/index.ts'
import { Crew } from './crew.ts'

const lease = { shard: 1, pool: 'app', owner: 'me', epoch: 1, until: 0 }
const taking = {
  lease,
  flight: { id: 1, shard: 1 },
  alarm: { target: { kind: 'handler' }, timeoutMs: null },
  timer: { id: 1, version: 1, wakeAt: 0 },
} as unknown as Taking

test('a transactional handler does not start when its lease ended while its transaction was waited for (fenced)', async () => {
  const opened = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  let isHeld = true
  let starts = 0
  const crew = new Crew({
    store: {
      async transact(_: unknown, work: (tx: unknown) => Promise<Settlement>) {
        await opened.promise
        await work({})
        return { lost: [], stale: 0 }
      },
    } as unknown as Store,
    courier: {
      isTransactional: () => true,
      timeoutMs: () => 1_000,
      async deliver() {
        starts += 1
        return { report: null }
      },
    } as unknown as Courier,
    clock: new VirtualClock(),
    concurrency: 1,
    mayStart: () => (isHeld ? 'yes' : 'lost'),
    context: () => ({ now: 0, random: () => 0, newId: () => 'id' }),
    onEnded: () => ended.resolve(),
  })
  crew.accept([taking])
  isHeld = false
  opened.resolve()
  await ended.promise
  expect(starts).toBe(0)
  expect(crew.drain().ended).toMatchObject([{ delivery: { kind: 'released' } }])
})
