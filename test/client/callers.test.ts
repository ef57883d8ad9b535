import { describe, expect, it } from 'vitest'
import { connect, rawJson } from '../../src/client/index.ts'
import { serving } from '../server/harness.ts'

const { url, wakeful, call } = await serving()
const TRACE = '00-0123456789abcdef0123456789abcdef-0123456789abcdef-01'

it.for(['Zoë', '日本 ', ' a%20b', 'did:matrix:@a:b:fp', 'a%'])('can send any owner: %j', async (owner) => {
  const { id } = await connect(url, { owner, tenant: 'acme' }).set(
    { delay: '1h' },
    { target: { event: true } },
  )
  expect(await wakeful.forTenant('acme', owner).get(id)).toMatchObject({ id, owner })
})

it('sends the trace of an alarm', async () => {
  const alarms = connect(url)
  const options = { target: { event: true }, traceparent: TRACE }
  const { id } = await alarms.set({ delay: '1h' }, options)
  const [many] = await alarms.setMany([{ when: 'in 1 hour', ...options }])
  for (const each of [id, many!.id]) expect((await wakeful.get(each))?.traceparent).toBe(TRACE)
  const mixed = [
    { when: 'in 1 hour', ...options },
    { when: 'in 1 hour', target: { event: true } },
  ]
  await expect(alarms.setMany(mixed)).rejects.toThrow('one trace')
  await expect(alarms.set('now', { ...options, traceparent: 'a\nb' })).rejects.toThrow('W3C trace context')
})

describe('an agent without a URL', () => {
  it('reads its wakes byte for byte, waits for them, and reports', async () => {
    const alarms = connect(url, { owner: 'agent', timeoutMs: 2_000 })
    const own = wakeful.forTenant('default', 'agent')
    expect(await alarms.inbox.take()).toEqual([])
    const payload = '{"b":9007199254740993,"a":1.10}'
    const options = { target: 'inbox', payload: rawJson(payload), ack: 'report', message: 'wake é' } as const
    const { id } = await alarms.set('now', options)
    const waiting = alarms.inbox.take({ wait: '10s', hold: '1s', limit: 1 })
    await wakeful.tick()
    const [wake] = await waiting
    expect(wake).toMatchObject({ alarmId: id, tries: 1, body: { wake_message: 'wake é' } })
    expect(wake?.bodyJson).toContain(`"payload":${payload}`)
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    const [again] = await own.inbox.take()
    expect(again?.bodyJson).toBe(wake?.bodyJson)
    expect(again?.tries).toBe(2)
    await alarms.inbox.ack(wake!.occurrenceId, { complete: 'done' })
    expect(await alarms.get(id)).toMatchObject({ status: 'completed', result: 'done' })
    await expect(alarms.inbox.ack(wake!.occurrenceId)).rejects.toMatchObject({ code: 'not_found' })
    const abort = new AbortController()
    const never = alarms.inbox.take({ wait: '60s', signal: abort.signal })
    abort.abort(new Error('enough'))
    await expect(never).rejects.toThrow('enough')
  })

  it('sets its default target', async () => {
    const alarms = connect(url, { owner: 'moving' })
    expect(await alarms.defaultTarget.get()).toBeNull()
    await alarms.defaultTarget.put('inbox')
    expect(await alarms.defaultTarget.get()).toEqual(
      await wakeful.forTenant('default', 'moving').defaultTarget.get(),
    )
    expect(await alarms.set({ delay: '1h' })).toMatchObject({ targetKind: 'default', pool: 'wakeful' })
    expect([await alarms.defaultTarget.remove(), await alarms.defaultTarget.remove()]).toEqual([true, false])
  })

  it('reads and rotates the webhook secret of its tenant', async () => {
    const { webhooks } = connect(url, { tenant: 'signing' })
    const before = await webhooks.secret()
    expect(before).toEqual(await wakeful.forTenant('signing').webhooks.secret())
    const { secret, former, formerUntil } = await webhooks.rotateSecret()
    expect({ former, isDate: formerUntil instanceof Date }).toEqual({ former: before.secret, isDate: true })
    expect(secret).not.toBe(before.secret)
  })
})

// Last: from here on nobody comes in without a key.
it('authenticates by its key, and gets an error otherwise', async () => {
  const { json } = await call('POST', '/v1/keys', { tenant: 'acme', owner: 'ann', rights: 'write' })
  const alarms = connect(url, { key: json.key })
  const { id } = await alarms.set({ delay: '1h' }, { target: { event: true } })
  expect(await wakeful.forTenant('acme', 'ann').get(id)).toMatchObject({ id })
  await expect(connect(url).stats()).rejects.toMatchObject({ code: 'unauthorized' })
  await expect(connect(url, { key: 'wk_0_nope' }).stats()).rejects.toMatchObject({ code: 'unauthorized' })
  await expect(alarms.forTenant('other').stats()).rejects.toMatchObject({ code: 'forbidden' })
  await expect(alarms.webhooks.secret()).rejects.toMatchObject({ code: 'forbidden' })
})
