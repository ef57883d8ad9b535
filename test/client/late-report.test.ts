import { expect, it } from 'vitest'
import { openTest } from '../../src/testing/index.ts'

it('credits a late report to the occurrence that it names, and refuses one that never was', async () => {
  await using bench = await openTest({ clock: '2030-01-01T00:00:00Z', timezone: 'UTC' })
  const { wakeful, clock } = bench
  const fired: string[] = []
  wakeful.handle('job', ({ occurrence }) => void fired.push(occurrence.id))
  await wakeful.start()
  const { id } = await wakeful.set(
    { every: '1h' },
    { key: 'k', target: 'job', ack: 'report', completionTimeout: '5m' },
  )
  await clock.advance('2h 10m')
  const [first, second] = fired
  expect((await wakeful.failed()).map(({ occurrenceId }) => occurrenceId)).toEqual([second, first])
  await wakeful.complete({ key: 'k' }, 'done', { occurrenceId: first! })
  expect((await wakeful.failed()).map(({ occurrenceId }) => occurrenceId)).toEqual([second])
  expect(await wakeful.stats()).toMatchObject({ timeoutUnknown: 1, failed: 0 })
  // Its result is not that of the newest occurrence.
  expect(await wakeful.get(id)).toMatchObject({ result: 'timeout_unknown' })
  for (const [occurrenceId, code] of [
    [first!, 'conflict'],
    [`${id}-2-5`, 'not_found'],
    ['made-up', 'not_found'],
  ] as const)
    await expect(wakeful.complete(id, 'done', { occurrenceId })).rejects.toMatchObject({ code })
  await wakeful.complete(id, 'done')
  expect(await wakeful.failed()).toEqual([])
  expect(await wakeful.get(id)).toMatchObject({ result: 'done' })
})
