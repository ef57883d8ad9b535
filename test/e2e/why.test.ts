import { expect, it } from 'vitest'
import { openTest } from '../../src/testing/index.ts'

it('describes each delivery, including the one after a failed report', async () => {
  await using bench = await openTest()
  const { wakeful, clock } = bench
  await wakeful.start()
  const { id } = await wakeful.set(
    { delay: '1m' },
    { target: 'inbox', ack: 'report', backoff: { baseMs: 10_000 } },
  )
  await clock.advance('1m')
  const first = await wakeful.get(id)
  await wakeful.fail(id, 'no')
  await clock.advance('30s')
  const second = await wakeful.get(id)
  expect(second!.lastFiredAt!.getTime()).toBeGreaterThan(first!.lastFiredAt!.getTime())
  const lines = async () => (await wakeful.why(id)).story.map(({ type, text }) => `${type} ${text}`)
  const expected = [
    /^alarm.set /,
    /^alarm.fired delivered, .*\(attempt 1\)/,
    /^alarm.attempt_failed attempt 1 failed: no/,
    /^alarm.fired delivered again \(attempt 2\)/,
  ]
  for (const [at, line] of (await lines()).entries()) expect(line).toMatch(expected[at]!)
  await wakeful.complete(id, 'done')
  expect((await lines()).slice(3)).toEqual([
    'alarm.fired delivered again (attempt 2)',
    'alarm.completed reported complete: done',
  ])
  // The log has only one record of the delivery (recorded-once).
  const log = []
  for await (const { type } of wakeful.events()) log.push(type)
  expect(log).toEqual(['alarm.fired', 'alarm.attempt_failed', 'alarm.completed'])
})

it('describes the target and impossible actions correctly', async () => {
  await using bench = await openTest()
  const { wakeful, clock } = bench
  await wakeful.start()
  await wakeful.defaultTarget.put('inbox')
  const asked = async (options: object) => {
    const { id } = await wakeful.set({ delay: '1m' }, options)
    return (await wakeful.why(id)).asked
  }
  expect(await asked({ target: 'inbox' })).toMatch(/, to the inbox$/)
  expect(await asked({})).toMatch(/, to the owner’s default target$/)
  expect(await asked({ target: 'remind' })).toMatch(/, to handler remind in pool app$/)
  const { id } = await wakeful.set({ delay: '1s' }, { target: { event: true } })
  await clock.advance('2s')
  await expect(wakeful.edit(id, { label: 'x' })).rejects.toThrow('Cannot edit: the alarm has ended (fired)')
  await expect(wakeful.edit(id, { when: 'tomorrow' })).rejects.toThrow('Cannot reschedule: ')
})

it('shows the notes of a reschedule where it happened, and not at the set', async () => {
  await using bench = await openTest({ clock: '2026-03-02T10:00:00Z', timezone: 'UTC' })
  const { wakeful, clock } = bench
  const { id } = await wakeful.set('every day at 9am', { target: 'inbox' })
  const lines = async () => (await wakeful.why(id)).story.map(({ text }) => text)
  expect(await lines()).toEqual([expect.stringMatching(/^set \(library\): read as '.*9/)])
  await clock.advance('1d')
  await wakeful.reschedule(id, 'every day at 5pm')
  expect(await lines()).toEqual([
    'set (library)',
    expect.stringMatching(/^rescheduled to [^:]*T17:00:00.000Z: read as 'every day at 17:00'/),
  ])
})
