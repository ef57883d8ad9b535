import { expect, it } from 'vitest'
import { openTest } from '../../src/testing/index.ts'

it('keeps exclude, misfire and jitter over a reschedule with a note, and drops them on request', async () => {
  await using bench = await openTest({ clock: '2026-11-16T00:00:00Z' })
  const { wakeful } = bench
  await wakeful.calendars.put('us-holidays', { dates: { '2026-11-26': 'Thanksgiving Day' } })
  const { id } = await wakeful.set(
    { cron: '0 9 26 * *', exclude: 'us-holidays', misfire: 'skip', jitter: '10m', count: 3 },
    { target: { handler: 'x' } },
  )
  const daily = await wakeful.reschedule(id, { cron: '0 9 * * *' })
  expect(daily.rule).toMatchObject({
    exclude: { calendars: ['us-holidays'] },
    misfire: 'skip',
    jitterMs: 600_000,
  })
  expect(daily.rule).not.toHaveProperty('count')
  expect(daily.notes).toEqual([
    'still except on us-holidays',
    'still each up to 10m later',
    'still missed ticks: none fire',
  ])
  expect(JSON.parse((await wakeful.wire(id))!).when).toEqual({
    jitter: '10m',
    misfire: 'skip',
    exclude: { calendars: ['us-holidays'] },
  })
  const plain = await wakeful.reschedule(id, { exclude: [], misfire: 'once', jitter: '0s' })
  expect(plain.rule).toMatchObject({ cron: '0 9 * * *', misfire: 'once' })
  expect(plain.rule).not.toHaveProperty('exclude')
  expect(plain.rule).not.toHaveProperty('jitterMs')
})

it('keeps the days of two concurrent calls that add some', async () => {
  await using bench = await openTest({ clock: '2026-11-16T00:00:00Z' })
  const { calendars } = bench.wakeful
  await Promise.all(
    ['2026-12-24', '2026-12-25', '2026-12-26'].map((day) => calendars.add('x', { dates: [day] })),
  )
  expect(Object.keys((await calendars.get('x'))!.dates)).toHaveLength(3)
  const other = await calendars.put('y', (await calendars.get('x'))!)
  expect(other).toMatchObject({ name: 'y', notes: [] })
})
