import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { newPath } from './actors.ts'

test('a cancel does not answer cancelled while a rescheduled occurrence is about to start (cancel-wins)', async () => {
  const wakeful = await open(newPath(), { concurrency: 1 })
  const starts: string[] = []
  const deferred = Promise.withResolvers<void>()
  const gated = Promise.withResolvers<void>()
  wakeful.handle('work', async ({ message }) => {
    starts.push(message)
    if (message !== 'deferred') return
    gated.resolve()
    await deferred.promise
  })
  await wakeful.start()
  try {
    // Quick deliveries make the engine claim ahead: the keyed one is then in flight but not started.
    const quick = await wakeful.setMany(
      Array.from({ length: 50 }, () => ({ when: new Date(), target: 'work', message: 'quick' })),
    )
    while ((await wakeful.get(quick.at(-1)!.id))!.status !== 'fired')
      await new Promise((resolve) => setTimeout(resolve, 5))
    const due = new Date(Date.now() + 100)
    const [, keyed] = await wakeful.setMany([
      { when: due, target: 'work', message: 'deferred', priority: 10 },
      { when: due, target: 'work', message: 'old', key: 'k' },
    ])
    await gated.promise
    await wakeful.set(new Date(Date.now() + 60_000), { target: 'work', message: 'new', key: 'k' })
    const { outcome } = await wakeful.cancel(keyed!.id)
    deferred.resolve()
    await wakeful.set(new Date(), { target: 'work', message: 'last' })
    while (!starts.includes('last')) await new Promise((resolve) => setTimeout(resolve, 5))
    expect({ outcome, started: starts.includes('old') }).not.toEqual({ outcome: 'cancelled', started: true })
    expect(starts).not.toContain('new')
    expect(await wakeful.get(keyed!.id)).toMatchObject({ status: 'cancelled' })
  } finally {
    await wakeful.close()
  }
})
