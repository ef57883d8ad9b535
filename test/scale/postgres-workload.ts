import { type Alarms, open, type Wakeful } from '../../src/index.ts'
import { BIG, RARE_TARGET, SMALL } from './postgres-fill.ts'

const FIRED = 200

/** Uses a filled database as users do: fires, cancels, lists and reads, for a big tenant and a small one. */
export async function workload(url: string): Promise<void> {
  const wakeful = await open(url, { drain: '0s', concurrency: 20 })
  try {
    await fires(wakeful)
    for (const tenant of [BIG, SMALL]) {
      const own = wakeful.forTenant(tenant)
      await reads(own)
      await edits(own)
    }
  } finally {
    await wakeful.close()
  }
}

/** Claims, and settles with every outcome, partly while one tenant uses all slots. */
async function fires(wakeful: Wakeful): Promise<void> {
  let fired = 0
  let hanging = 0
  wakeful.handle('fast', () => {
    fired += 1
  })
  wakeful.handle('bad', () => {
    fired += 1
    throw new Error('bad')
  })
  wakeful.handle('hang', () => {
    hanging += 1
    return new Promise(() => {})
  })
  await wakeful.start()
  const soon = (target: string) => ({ when: { delay: '50ms' }, target, maxFailures: 1 })
  for (const tenant of [BIG, SMALL]) {
    const own = wakeful.forTenant(tenant)
    await own.setMany(Array.from({ length: FIRED }, (_, i) => soon(i % 4 === 0 ? 'bad' : 'fast')))
    await own.set({ every: '1s' }, { target: 'fast' })
  }
  await until(() => fired > 2 * FIRED)
  await wakeful.forTenant(BIG).setMany(Array.from({ length: 2 * FIRED }, () => soon('hang')))
  await until(() => hanging >= 20)
  const before = fired
  await wakeful.forTenant(SMALL).setMany(Array.from({ length: 10 }, () => soon('fast')))
  await until(() => fired >= before + 10)
}

async function reads(own: Alarms): Promise<void> {
  const since = new Date(Date.now() - 3_600_000)
  const states = [
    'pending',
    'active',
    'paused',
    'fired',
    'completed',
    'failed',
    'cancelled',
    'timed_out',
  ] as const
  await own.list()
  for (const status of states) await own.list({ status })
  for (const target of ['work1', RARE_TARGET, 'nobody']) await own.list({ target })
  await own.list({ label: 'l7' })
  await own.list({ subject: 's7' })
  await own.list({ conversationId: 'c7' })
  await own.list({ correlationId: 'r7' })
  await own.list({ order: 'due', limit: 500 })
  await own.list({ since })
  for (const status of ['pending', 'fired', 'completed', 'failed', 'cancelled', 'timed_out'] as const)
    await own.history({ status })
  await own.history({ limit: 500 })
  await own.history({ target: 'work2' })
  await own.history({ since, status: 'failed', target: RARE_TARGET })
  await own.failed()
  await own.stats()
}

async function edits(own: Alarms): Promise<void> {
  const { items } = await own.list({ status: 'pending', target: 'work1', limit: 50 })
  const ids = items.map(({ id }) => id)
  await own.get(ids[0]!)
  await own.why(ids[0]!)
  for await (const _ of own.events({ alarmId: ids[0]! })) break
  for await (const _ of own.events()) break
  await own.getByKey(items[0]!.key ?? 'none')
  await own.reschedule(ids[0]!, { delay: '1h' })
  await own.pause(ids[1]!)
  await own.cancel(ids[2]!)
  await own.cancelMany(ids.slice(3, -2))
  await own.removeSubject(items.at(-2)!.subject ?? 'none')
  await own.set({ delay: '1h' }, { target: 'work1', key: items.at(-1)!.key ?? 'none' })
}

async function until(isSo: () => boolean): Promise<void> {
  const end = performance.now() + 60_000
  while (!isSo()) {
    if (performance.now() > end) throw new Error('what was set did not fire within a minute')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
