import { expect, it } from 'vitest'
import type { Store } from '../stores/index.ts'
import { VirtualClock } from '../testing/index.ts'
import { LogNotifier } from './log-notifier.ts'

const ann = { tenant: 'acme', owner: 'ann' }
const bob = { tenant: 'acme', owner: 'bob' }
const eve = { tenant: 'umbrella', owner: 'ann' }

type Listener = Parameters<Store['onChange']>[0]

const silent = { onChange: () => () => {} }

/** Which of the three it woke. */
async function woken(notify: (notifier: LogNotifier) => void): Promise<string[]> {
  const notifier = new LogNotifier(silent, new VirtualClock())
  const names: string[] = []
  for (const [name, scope] of Object.entries({ ann, bob, eve }))
    void notifier.next(scope).then(() => names.push(name))
  notify(notifier)
  await new Promise(setImmediate)
  return names
}

it('wakes the readers whose log has grown', async () => {
  expect(await woken((notifier) => notifier.notify(ann))).toEqual(['ann'])
  expect(await woken((notifier) => notifier.notify({ tenant: 'nobody', owner: '' }))).toEqual([])
  expect(await woken((notifier) => notifier.notifyTenant('acme'))).toEqual(['ann', 'bob'])
  expect(await woken((notifier) => notifier.notifyAll())).toEqual(['ann', 'bob', 'eve'])
  expect(await woken((notifier) => notifier.close())).toEqual(['ann', 'bob', 'eve'])
})

it('wakes the readers of a tenant, or of every tenant, by what any of their owners appends', async () => {
  const notifier = new LogNotifier(silent, new VirtualClock())
  const wide = { acme: { tenant: 'acme', owner: null }, all: { tenant: null, owner: null } } as const
  const wokenBy = async (notify: () => void) => {
    const abort = new AbortController()
    const names: string[] = []
    for (const [name, scope] of Object.entries(wide))
      void notifier.next(scope, abort.signal).then(() => !abort.signal.aborted && names.push(name))
    notify()
    await new Promise(setImmediate)
    abort.abort()
    return names
  }
  expect(await wokenBy(() => notifier.notify(ann))).toEqual(['acme', 'all'])
  expect(await wokenBy(() => notifier.notify(eve))).toEqual(['all'])
  expect(await wokenBy(() => notifier.notifyTenant('acme'))).toEqual(['acme', 'all'])
  expect(await wokenBy(() => notifier.notifyAll())).toEqual(['acme', 'all'])
})

it('wakes all readers of an owner, and forgets one that was aborted', async () => {
  const notifier = new LogNotifier(silent, new VirtualClock())
  const gone = new AbortController()
  const both = [notifier.next(ann), notifier.next(ann), notifier.next(bob, gone.signal)]
  gone.abort()
  notifier.notify(ann)
  await Promise.all(both)
})

it('wakes readers of what other processes append at most ten times a second, while one watches', async () => {
  const listeners = new Set<Listener>()
  const store = {
    onChange(listener: Listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  const clock = new VirtualClock()
  const notifier = new LogNotifier(store, clock)
  let woken = 0
  const read = () => void notifier.next(ann).then(() => (woken += 1))
  const append = async () => {
    read()
    for (const listener of listeners) listener('log')
    await new Promise(setImmediate)
  }
  const stops = [notifier.watch(), notifier.watch()]
  expect(listeners.size).toBe(1)
  for (let count = 0; count < 3; count++) await append()
  expect(woken).toBe(1)
  await clock.advance(100)
  expect(woken).toBe(3)
  for (const stop of stops) stop()
  expect(listeners.size).toBe(0)
})
