import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { open, type Wakeful } from '../../src/index.ts'
import { testDatabase } from '../postgres/database.ts'

const { url } = testDatabase()
const opened: Wakeful[] = []
afterEach(async () => {
  for (const wakeful of opened.splice(0)) await wakeful.close()
})

it.for(['sqlite', 'postgres'] as const)(
  'a receiver that is down for longer than the patience uses up attempts, and quarantines nothing (%s)',
  async (store) => {
    const wakeful = await open(store === 'sqlite' ? 'sqlite::memory:' : url, {
      secret: 'x'.repeat(40),
      allowPrivateTargets: true,
      // The next probe comes after the backoff, at a fraction of a millisecond of the real clock.
      webhooks: { patience: '100ms', circuit: { failures: 1, open: '1s', openMax: '1s' } },
    })
    opened.push(wakeful)
    await wakeful.start()
    const ids: string[] = []
    for (let i = 0; i < 6; i++) {
      const target = { webhook: 'http://127.0.0.1:9/' }
      const backoff = { baseMs: 100, capMs: 100 }
      ids.push((await wakeful.set({ delay: `${100 * i}ms` }, { target, maxFailures: 3, backoff })).id)
    }
    for (const id of ids) {
      let alarm = await wakeful.get(id)
      for (; alarm?.status === 'active'; alarm = await wakeful.get(id)) await sleep(50)
      expect(alarm).toMatchObject({ status: 'failed', attempts: 3 })
      expect(alarm?.lastError).not.toMatch('quarantined')
    }
    expect(await wakeful.stats()).toMatchObject({ total: 6, pending: 0, failed: 6 })
  },
)
