import { describe, expect, it } from 'vitest'
import { connect } from '../../src/client/index.ts'
import { serving } from '../server/harness.ts'
import { keysOf } from '../server/keys-of.ts'

const EVENT = { event: true }
const { url, wakeful } = await serving()

describe.each([
  ['library', (owner: string) => wakeful.forTenant('default', `library ${owner}`)],
  ['client', (owner: string) => connect(url, { owner: `client ${owner}` })],
])('the %s', (_, alarmsOf) => {
  it('pauses and resumes all alarms that match', async () => {
    const alarms = alarmsOf('ann')
    const set = (subject: string, label: string) =>
      alarms.set({ every: '1h' }, { target: EVENT, subject, label })
    const [a, b] = [await set('order-1', 'x'), await set('order-1', 'y')]
    await set('order-2', 'x')
    await alarms.cancel((await set('order-1', 'x')).id)
    const foreign = await alarmsOf('bob').set({ every: '1h' }, { target: EVENT, subject: 'order-1' })
    const result = { refused: [], more: false }
    const counted = { ...result, matched: 2, done: 0 }
    expect(await alarms.pauseMany({ subject: 'order-1' }, { dryRun: true })).toEqual(counted)
    expect((await alarms.get(a.id))?.status).toBe('active')
    expect(await alarms.pauseMany({ subject: 'order-1' })).toEqual({ ...counted, done: 2 })
    expect(await alarms.pauseMany({ subject: 'order-1' })).toEqual({ ...result, matched: 0, done: 0 })
    expect(await alarms.resumeMany({ label: 'y' })).toEqual({ ...result, matched: 1, done: 1 })
    const status = async (id: string) => (await alarms.get(id))?.status
    expect([await status(a.id), await status(b.id)]).toEqual(['paused', 'active'])
    expect((await alarmsOf('bob').get(foreign.id))?.status).toBe('active')
    expect(await alarms.pauseMany({})).toMatchObject({ matched: 2, done: 2 })
    expect(await alarms.cancelMany({ label: 'x' })).toEqual({ ...result, matched: 2, done: 2 })
    expect((await alarms.stats()).pending).toBe(1)
  })

  it('says which alarms refused', async () => {
    const alarms = alarmsOf('carl')
    const { id } = await alarms.set({ delay: '1h' }, { target: EVENT })
    await alarms.cancel(id)
    expect(await alarms.pauseMany({ status: 'cancelled' })).toMatchObject({
      matched: 1,
      done: 0,
      refused: [{ id, code: 'already_ended' }],
    })
  })

  it('refuses a filter that names no field', async () => {
    const wrong = { subjct: 'x' } as object
    await expect(alarmsOf('dora').pauseMany(wrong)).rejects.toMatchObject({ code: 'invalid_request' })
    await expect(alarmsOf('dora').cancelMany(wrong)).rejects.toMatchObject({ code: 'invalid_request' })
  })

  it('keeps calendars of days off', async () => {
    const alarms = alarmsOf('calendars')
    const name = `days-${(await alarms.calendars.list()).length}`
    expect(await alarms.calendars.get(name)).toBeNull()
    const put = await alarms.calendars.put(name, { dates: { '2040-12-25': 'Christmas' }, weekend: ['fri'] })
    const calendar = { name, dates: { '2040-12-25': 'Christmas' }, weekend: [5] }
    expect(put).toEqual({ ...calendar, moved: 0, notes: [] })
    expect(await alarms.calendars.get(name)).toEqual(calendar)
    const daily = { cron: '0 9 * * *', start: '2040-12-24', exclude: name, timezone: 'UTC' }
    const { id } = await alarms.set(daily, { target: EVENT })
    expect(await alarms.calendars.add(name, { dates: ['2040-12-24'] })).toMatchObject({
      moved: 1,
      notes: ['added 1 day'],
    })
    expect((await alarms.get(id))?.nextFireAt).toEqual(new Date('2040-12-26T09:00:00Z'))
    await expect(alarms.calendars.remove(name)).rejects.toMatchObject({ code: 'conflict' })
    await alarms.cancel(id)
    // What `get` returned can be put again.
    await alarms.calendars.put(name, (await alarms.calendars.get(name))!)
    expect(await alarms.calendars.remove(name)).toBe(true)
    expect(await alarms.calendars.remove(name)).toBe(false)
    await expect(alarms.calendars.put(name, { dates: ['x'] })).rejects.toMatchObject({
      code: expect.stringMatching('invalid'),
    })
  })
})

it('lets only keys of the whole tenant change its calendars', async () => {
  const server = await serving()
  const { keys } = keysOf(server.wakeful)
  const as = async (tenant: string, owner: string | null, rights: 'read' | 'admin') =>
    connect(server.url, { key: (await keys(tenant, owner, rights)).key })
  const platform = await as('acme', null, 'admin')
  await platform.calendars.put('company', { ics: 'BEGIN:VCALENDAR\nEND:VCALENDAR', dates: ['2040-12-24'] })
  const admin = await as('acme', 'ann', 'admin')
  const forbidden = { code: 'forbidden' }
  await expect(admin.calendars.put('company', { dates: [] })).rejects.toMatchObject(forbidden)
  await expect(admin.calendars.add('other', { dates: [] })).rejects.toMatchObject(forbidden)
  await expect(admin.calendars.remove('company')).rejects.toMatchObject(forbidden)
  const reader = await as('acme', 'ann', 'read')
  expect((await reader.calendars.list()).map(({ name }) => name)).toEqual(['company'])
  const stranger = await as('globex', null, 'admin')
  expect(await stranger.calendars.list()).toEqual([])
  expect(await stranger.calendars.get('company')).toBeNull()
})
