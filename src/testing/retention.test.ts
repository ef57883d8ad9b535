import { expect, test } from 'vitest'
import { openTest } from './open-test.ts'

test('the log of a recurring alarm stops growing, and keeps its newest events', async () => {
  await using bench = await openTest({ retention: '5m' })
  const { wakeful, clock } = bench
  await wakeful.start()
  const { id } = await wakeful.set({ every: '1s' }, { target: { event: true } })
  await wakeful.append({ type: 'door.opened' })
  await clock.advance('1m')
  const [first] = await Array.fromAsync(wakeful.events())
  await clock.advance('30m')
  const all = await Array.fromAsync(wakeful.events())
  // What five minutes hold, and what came since the last step of retention.
  expect(all.length).toBeLessThan(6 * 60 + 20)
  expect(all.some(({ type }) => type === 'door.opened')).toBe(true)
  // A reader that continues from an early cursor would miss events, of the owner and of the alarm.
  const after = first!.cursor
  await expect(Array.fromAsync(wakeful.events({ after }))).rejects.toMatchObject({ code: 'cursor_expired' })
  await expect(Array.fromAsync(wakeful.events({ after, alarmId: id }))).rejects.toMatchObject({
    code: 'cursor_expired',
  })
  await wakeful.pause(id)
  await clock.advance('1h')
  expect(await Array.fromAsync(wakeful.events({ alarmId: id }))).toHaveLength(100)
})

test('an alarm whose own events are all left is read from any of its cursors', async () => {
  await using bench = await openTest({ retention: '5m' })
  const { wakeful, clock } = bench
  await wakeful.start()
  const rare = await wakeful.set({ every: '1h' }, { target: { event: true } })
  await clock.advance('1h')
  const [first] = await Array.fromAsync(wakeful.events({ alarmId: rare.id }))
  await wakeful.set({ every: '1s' }, { target: { event: true } })
  await clock.advance('30m')
  const after = first!.cursor
  await expect(Array.fromAsync(wakeful.events({ after }))).rejects.toMatchObject({ code: 'cursor_expired' })
  expect(await Array.fromAsync(wakeful.events({ after, alarmId: rare.id }))).toEqual([])
})

test('a backlog of ended alarms is deleted at once, not one batch a minute', async () => {
  await using bench = await openTest({ retention: '10m' })
  const { wakeful, clock } = bench
  const whens = Array.from(
    { length: 1_000 },
    () => ({ when: { delay: '1s' }, target: { event: true } }) as const,
  )
  await wakeful.setMany(whens)
  await wakeful.setMany(whens)
  await clock.advance('1m')
  await wakeful.start()
  await clock.advance('30m')
  expect((await wakeful.list()).items).toEqual([])
})
