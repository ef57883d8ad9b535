import { describe, expect, it } from 'vitest'
import { connect } from '../../src/client/index.ts'
import { serving } from '../server/harness.ts'

const EVENT = { event: true }
const { url, wakeful } = await serving()
wakeful.handle('work', () => {})

describe.each([
  ['library', wakeful.forTenant('default', 'library')],
  ['client', connect(url, { owner: 'client' })],
])('the %s, by key', (_, alarms) => {
  it.each(['standup', 'a/b c?d#e%2f', 'why', 'by-key', '😀', ' '])(
    'does with %j all that it does by id',
    async (key) => {
      const { id } = await alarms.set({ every: '1h' }, { key, target: EVENT })
      expect(await alarms.get({ key })).toEqual(await alarms.get(id))
      expect(await alarms.getByKey(key)).toEqual(await alarms.get(id))
      expect(await alarms.wire({ key })).toBe(await alarms.wire(id))
      const edited = await alarms.edit({ key }, { label: 'new' })
      expect(edited).toMatchObject({ id, key, label: 'new' })
      expect(await alarms.reschedule({ key }, { every: '2h' })).toMatchObject({
        id,
        rule: { everyMs: 7_200_000 },
      })
      const { updatedAt } = edited
      await expect(alarms.pause({ key }, { updatedAt })).rejects.toMatchObject({ code: 'conflict' })
      expect(await alarms.pause({ key })).toMatchObject({ id, status: 'paused' })
      expect(await alarms.resume({ key })).toMatchObject({ id, status: 'active' })
      const { nextFireAt } = (await alarms.get(id))!
      const skipped = await alarms.skipNext({ key })
      expect(skipped.nextFireAt!.getTime()).toBe(nextFireAt!.getTime() + 7_200_000)
      expect(await alarms.fireNow({ key })).toMatchObject({ id })
      await expect(alarms.retry({ key })).rejects.toMatchObject({ code: 'conflict' })
      expect(await alarms.why({ key })).toMatchObject({ id, story: expect.any(Array) })
      expect(await alarms.cancel({ key })).toMatchObject({ outcome: 'cancelled', alarm: { id } })
      expect((await alarms.cancel({ key })).outcome).toBe('ended')
    },
  )

  it('reports, and retries', async () => {
    for (const key of ['done', 'undone'])
      await alarms.set('now', { key, target: 'work', ack: 'report', maxFailures: 1 })
    await wakeful.tick()
    expect(await alarms.complete({ key: 'done' }, 'sent')).toMatchObject({ status: 'completed' })
    expect(await alarms.fail({ key: 'undone' }, 'bounced')).toMatchObject({ status: 'failed' })
    expect(await alarms.retry({ key: 'undone' })).toMatchObject({ status: 'active' })
  })

  it('names the one alarm of its key, living or ended', async () => {
    const key = 'again'
    const first = await alarms.set({ delay: '1h' }, { key, target: EVENT })
    await alarms.cancel({ key })
    expect(await alarms.get({ key })).toMatchObject({ id: first.id, status: 'cancelled' })
    await alarms.set({ delay: '2h' }, { key, target: EVENT })
    expect(await alarms.get({ key })).toMatchObject({ id: first.id, status: 'active' })
  })

  it('refuses a key that nothing has, and what is no key', async () => {
    expect(await alarms.get({ key: 'none' })).toBeNull()
    const none = 'There is no alarm with the key "none".'
    await expect(alarms.pause({ key: 'none' })).rejects.toThrow(none)
    await expect(alarms.cancel({ key: 'none' })).rejects.toThrow(none)
    await expect(alarms.why({ key: 'none' })).rejects.toThrow(none)
    for (const key of ['', 7, undefined, 'a\0'] as never[])
      await expect(alarms.pause({ key })).rejects.toMatchObject({ code: 'invalid_request', field: 'key' })
  })
})

it('says that a URL cannot have the keys that it would drop', async () => {
  const remote = connect(url)
  const { id } = await remote.set({ delay: '1h' }, { key: '..', target: EVENT })
  await expect(remote.pause({ key: '..' })).rejects.toThrow("Use the alarm's id")
  expect(await remote.pause(id)).toMatchObject({ key: '..', status: 'paused' })
})
