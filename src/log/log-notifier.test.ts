import { expect, it } from 'vitest'
import { LogNotifier } from './log-notifier.ts'

const ann = { tenant: 'acme', owner: 'ann' }
const bob = { tenant: 'acme', owner: 'bob' }
const eve = { tenant: 'umbrella', owner: 'ann' }

/** Which of the three it woke. */
async function woken(notify: (notifier: LogNotifier) => void): Promise<string[]> {
  const notifier = new LogNotifier()
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

it('wakes all readers of an owner, and forgets one that was aborted', async () => {
  const notifier = new LogNotifier()
  const gone = new AbortController()
  const both = [notifier.next(ann), notifier.next(ann), notifier.next(bob, gone.signal)]
  gone.abort()
  notifier.notify(ann)
  await Promise.all(both)
})
