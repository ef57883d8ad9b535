import { expect, it } from 'vitest'
import { LogNotifier } from './log-notifier.ts'

const ann = { tenant: 'acme', owner: 'ann' }
const bob = { tenant: 'acme', owner: 'bob' }
const eve = { tenant: 'umbrella', owner: 'ann' }

/** Who of the three was woken by it. */
async function woken(ring: (bell: LogNotifier) => void): Promise<string[]> {
  const bell = new LogNotifier()
  const heard: string[] = []
  for (const [name, scope] of Object.entries({ ann, bob, eve }))
    void bell.next(scope).then(() => heard.push(name))
  ring(bell)
  await new Promise(setImmediate)
  return heard
}

it('wakes those whom it may concern', async () => {
  expect(await woken((bell) => bell.notify(ann))).toEqual(['ann'])
  expect(await woken((bell) => bell.notify({ tenant: 'nobody', owner: '' }))).toEqual([])
  expect(await woken((bell) => bell.notifyTenant('acme'))).toEqual(['ann', 'bob'])
  expect(await woken((bell) => bell.notifyAll())).toEqual(['ann', 'bob', 'eve'])
  expect(await woken((bell) => bell.close())).toEqual(['ann', 'bob', 'eve'])
})

it('wakes all who wait for the same, and forgets who has gone', async () => {
  const bell = new LogNotifier()
  const gone = new AbortController()
  const both = [bell.next(ann), bell.next(ann), bell.next(bob, gone.signal)]
  gone.abort()
  bell.notify(ann)
  await Promise.all(both)
})
