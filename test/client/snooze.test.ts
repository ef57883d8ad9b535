import { describe, expect, it } from 'vitest'
import { connect } from '../../src/client/index.ts'
import { openTest } from '../../src/testing/index.ts'
import { serving } from '../server/harness.ts'

const START = '2030-01-01T08:00:00Z'

async function opened() {
  const bench = await openTest({ clock: START, timezone: 'UTC' })
  const fired: string[] = []
  bench.wakeful.handle('ring', ({ occurrence }) => void fired.push(occurrence.scheduledFor.toISOString()))
  await bench.wakeful.start()
  return { ...bench, fired, [Symbol.asyncDispose]: () => bench[Symbol.asyncDispose]() }
}

const at = (time: string) => `2030-01-01T${time}:00.000Z`

describe('a one-shot alarm', () => {
  it('moves, and fires again when it had fired', async () => {
    await using bench = await opened()
    const { wakeful, clock, fired } = bench
    const { id } = await wakeful.set({ at: at('09:00') }, { target: 'ring', message: 'm' })
    expect((await wakeful.snooze(id, at('09:30'))).nextFireAt).toEqual(new Date(at('09:30')))
    await clock.advance('2h')
    expect(fired).toEqual([at('09:30')])
    expect(await wakeful.get(id)).toMatchObject({ status: 'fired' })
    expect(await wakeful.snooze(id, '10m')).toMatchObject({ status: 'active', message: 'm' })
    await clock.advance('1h')
    expect(fired).toEqual([at('09:30'), at('10:10')])
    expect(await wakeful.get(id)).toMatchObject({ status: 'fired' })
  })

  it('stays paused, and is refused when it was cancelled', async () => {
    await using bench = await opened()
    const { wakeful } = bench
    const { id } = await wakeful.set({ at: at('09:00') }, { target: 'ring' })
    await wakeful.pause(id)
    expect(await wakeful.snooze(id, '3h')).toMatchObject({ status: 'paused' })
    await wakeful.cancel(id)
    await expect(wakeful.snooze(id, '10m')).rejects.toMatchObject({ code: 'already_ended' })
    await expect(wakeful.snooze(id, 'every day at 9am')).rejects.toMatchObject({ field: 'when' })
  })
})

describe('a recurring alarm', () => {
  it('fires once more after it has fired, and keeps its rule', async () => {
    await using bench = await opened()
    const { wakeful, clock, fired } = bench
    const { id } = await wakeful.set({ cron: '0 * * * *' }, { target: 'ring' })
    await clock.advance('65m')
    expect(await wakeful.snooze(id, '10m')).toMatchObject({ nextFireAt: new Date(at('09:15')) })
    // Snoozed again before it fires: the same occurrence moves.
    expect(await wakeful.snooze(id, '20m')).toMatchObject({ nextFireAt: new Date(at('09:25')) })
    await clock.advance('1h')
    expect(fired).toEqual([at('09:00'), at('09:25'), at('10:00')])
  })

  it('fires once at an instant that the rule has too', async () => {
    await using bench = await opened()
    const { wakeful, clock, fired } = bench
    const { id } = await wakeful.set({ cron: '0 * * * *' }, { target: 'ring' })
    await wakeful.snooze(id, at('08:30'))
    await wakeful.snooze(id, at('10:00'))
    await clock.advance('150m')
    expect(fired).toEqual([at('10:00')])
  })

  it('skips the snoozed occurrence, if it is the next one', async () => {
    await using bench = await opened()
    const { wakeful, clock, fired } = bench
    const { id } = await wakeful.set({ cron: '0 * * * *' }, { target: 'ring' })
    await wakeful.snooze(id, at('08:30'))
    expect(await wakeful.skipNext(id)).toMatchObject({ nextFireAt: new Date(at('09:00')) })
    await wakeful.snooze(id, at('09:30'))
    await wakeful.skipNext(id)
    await wakeful.skipNext(id)
    await clock.advance('200m')
    expect(fired).toEqual([at('11:00')])
  })

  it('skips the next occurrence if that comes before the instant', async () => {
    await using bench = await opened()
    const { wakeful, clock, fired } = bench
    const { id } = await wakeful.set({ cron: '0 * * * *' }, { target: 'ring' })
    await wakeful.snooze(id, at('09:20'))
    await clock.advance('130m')
    expect(fired).toEqual([at('09:20'), at('10:00')])
    const { story } = await wakeful.why(id)
    expect(story.map(({ text }) => text).join('\n')).toContain(`snoozed until ${at('09:20')}`)
    expect(story.filter(({ type }) => type === 'alarm.skipped')).toHaveLength(1)
  })

  it('is refused while an occurrence fires whose successor it would have to skip', async () => {
    await using bench = await opened()
    const { wakeful, clock } = bench
    let release = () => {}
    const called: string[] = []
    wakeful.handle('slow', ({ occurrence }) => {
      const isFirst = called.push(occurrence.scheduledFor.toISOString()) === 1
      return isFirst ? new Promise<void>((resolve) => (release = resolve)) : undefined
    })
    const { id } = await wakeful.set({ cron: '0 * * * *' }, { target: 'slow' })
    await clock.advance('61m')
    await expect(wakeful.snooze(id, at('10:00'))).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('Cannot snooze: the alarm is firing now.'),
    })
    await wakeful.snooze(id, at('09:30'))
    release()
    await clock.advance('70m')
    expect(called).toEqual([at('09:00'), at('09:30'), at('10:00')])
  })

  it('skips the next occurrence while the last one waits for its report', async () => {
    await using bench = await opened()
    const { wakeful, clock, fired } = bench
    const { id } = await wakeful.set(
      { cron: '0 * * * *' },
      { target: 'ring', ack: 'report', overlap: 'allow' },
    )
    await clock.advance('61m')
    await wakeful.snooze(id, at('10:30'))
    await clock.advance('90m')
    expect(fired).toEqual([at('09:00'), at('10:30')])
  })

  it('leaves what was fired by hand in the same millisecond where it is', async () => {
    await using bench = await opened()
    const { wakeful, clock, fired } = bench
    const { id } = await wakeful.set({ cron: '0 12 * * *' }, { target: 'ring' })
    await wakeful.pause(id)
    for (let i = 0; i < 3; i++) await wakeful.fireNow(id)
    await wakeful.snooze(id, '1h')
    await wakeful.resume(id)
    await clock.advance('2h')
    expect(fired).toHaveLength(4)
    expect(fired.at(-1)).toBe(at('09:00'))
  })

  it('names the snooze when it is refused', async () => {
    await using bench = await opened()
    const { wakeful, clock } = bench
    const { id } = await wakeful.set({ cron: '0 * * * *', count: 1 }, { target: 'ring' })
    for (const past of [at('07:59'), '2020-01-01T00:00Z'])
      await expect(wakeful.snooze(id, past)).rejects.toMatchObject({ code: 'invalid_time', field: 'when' })
    await clock.advance('2h')
    await expect(wakeful.snooze(id, '10m')).rejects.toThrow('Cannot snooze: the alarm has ended')
  })

  it('goes on with its last occurrence, and ends with it', async () => {
    await using bench = await opened()
    const { wakeful, clock, fired } = bench
    const { id } = await wakeful.set({ cron: '0 * * * *', count: 1 }, { target: 'ring' })
    await wakeful.snooze(id, at('09:20'))
    expect(await wakeful.get(id)).toMatchObject({ status: 'active', nextFireAt: new Date(at('09:20')) })
    await clock.advance('5h')
    expect(fired).toEqual([at('09:20')])
    expect(await wakeful.get(id)).toMatchObject({ status: 'completed' })
    expect(await wakeful.stats()).toMatchObject({ total: 1, pending: 0, completed: 1 })
    await expect(wakeful.snooze(id, '10m')).rejects.toMatchObject({ code: 'already_ended' })
  })

  it('waits for a resume while it is paused', async () => {
    await using bench = await opened()
    const { wakeful, clock, fired } = bench
    const { id } = await wakeful.set({ cron: '0 12 * * *' }, { target: 'ring' })
    await wakeful.pause(id)
    await wakeful.snooze(id, at('09:20'))
    await clock.advance('2h')
    expect(fired).toEqual([])
    await wakeful.resume(id)
    await clock.advance('1m')
    expect(fired).toEqual([at('09:20')])
  })
})

it('is the same call of the client, by id or key, and checks the version', async () => {
  const { url, call } = await serving()
  const remote = connect(url, { timezone: 'Europe/Rome' })
  const set = await remote.set({ at: at('09:00'), timezone: 'UTC' }, { key: 'k', target: { event: true } })
  const snoozed = await remote.snooze({ key: 'k' }, '2040-01-01T10:00')
  // Read in the alarm's own zone.
  expect(snoozed).toMatchObject({ id: set.id, nextFireAt: new Date('2040-01-01T10:00:00Z') })
  expect(await remote.snooze(set.id, { delay: '90m' })).toMatchObject({ status: 'active' })
  const { updatedAt } = snoozed
  await expect(remote.snooze(set.id, '10m', { updatedAt })).rejects.toMatchObject({ code: 'conflict' })
  await expect(remote.snooze('none', '10m')).rejects.toMatchObject({ code: 'not_found' })
  for (const when of ['every day', { every: '1h' }])
    await expect(remote.snooze(set.id, when)).rejects.toThrow('until one instant')
  const { detail } = (await call('POST', `/v1/alarms/${set.id}/snooze`, {})).json
  expect(detail).toBe('Set exactly one of `fire_at`, `delay`, `when`. This time has none.')
})
