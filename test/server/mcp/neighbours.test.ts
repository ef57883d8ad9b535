import { describe, expect, it } from 'vitest'
import { serving } from '../harness.ts'
import { type Answered, ERAS, httpAgent } from './agents.ts'

const server = await serving()
const { keys, operator } = await keysOf()

/** Every tool that names an alarm or a wake. */
const BY_ID: readonly [string, (id: string) => Record<string, unknown>][] = [
  ['get', (id) => ({ id })],
  ['get', (id) => ({ key: id })],
  ['cancel', (id) => ({ id })],
  ['cancel', (id) => ({ key: id })],
  ['reschedule', (id) => ({ id, delay: '5s' })],
  ['reschedule', (id) => ({ key: id, wake_message: 'mine now' })],
  ['complete', (id) => ({ id, result: 'mine now' })],
  ['complete', (id) => ({ key: id })],
  ['fail', (id) => ({ id, reason: 'mine now' })],
  ['why', (id) => ({ id })],
  ['why', (id) => ({ key: id })],
  ['ack', (id) => ({ occurrence_id: id })],
  ['ack', (id) => ({ occurrence_id: id, complete: 'mine now' })],
]

describe.for(ERAS)('a neighbour (%s)', (era) => {
  const agent = (key: string, more: Record<string, string> = {}) =>
    httpAgent(server.url, { authorization: `Bearer ${key}`, ...more }, era)

  it.for(['bob', 'other'] as const)(
    '%s sees and touches nothing: what is not theirs is not there',
    async (role) => {
      const [ann, neighbour] = [await agent(keys.ann), await agent(keys[role])]
      const key = `k-${role}-${era}`
      const { structured: alarm } = await ann.tool('set', {
        delay: '1h',
        key,
        wake_message: 'mine',
        ack: 'report',
      })
      const wake = await delivered(`w-${role}-${era}`)
      const before = (await ann.tool('get', { id: alarm.id })).json
      for (const [name, args] of BY_ID) {
        const foreign = name === 'ack' ? wake : 'key' in args('') ? key : alarm.id
        const unknown = name === 'ack' ? `${wake}9` : 'key' in args('') ? `${key}9` : nextId(alarm.id)
        const [met, missed] = [
          await neighbour.tool(name, args(foreign)),
          await neighbour.tool(name, args(unknown)),
        ]
        expect([name, met.isError, met.text.split(':')[0]]).toEqual([name, true, 'not_found'])
        expect(comparable(met, foreign)).toEqual(comparable(missed, unknown))
      }
      for (const filter of [{}, { q: 'mine' }, { status: 'pending' }])
        expect((await neighbour.tool('list', filter)).structured.items).toEqual([])
      expect((await neighbour.tool('inbox', { wait: '0s' })).structured.items).toEqual([])
      expect((await ann.tool('get', { id: alarm.id })).json).toBe(before)
      const { items } = (await ann.tool('inbox', { wait: '0s' })).structured
      expect(items.map((item: { occurrence_id: string }) => item.occurrence_id)).toContain(wake)
      for (const { occurrence_id } of items) await ann.tool('ack', { occurrence_id })
    },
  )

  it('acts only as the owner and tenant of its key, unless the key is a platform’s', async () => {
    for (const header of ['wakeful-owner', 'wakeful-tenant'])
      await expect(agent(keys.bob, { [header]: 'ann' })).rejects.toThrow(/403|forbidden/i)
    const platform = await agent(keys.platform, { 'wakeful-owner': 'ann' })
    expect((await platform.tool('list')).structured.items.length).toBeGreaterThan(0)
  })

  it('reads, and changes nothing, with a key that may read', async () => {
    const [ann, reader] = [await agent(keys.ann), await agent(keys.reader)]
    const { structured: alarm } = await ann.tool('set', { delay: '1h', target: 'inbox' })
    const { id } = alarm
    for (const [name, args] of [
      ['get', { id }],
      ['why', { id }],
      ['list', {}],
      ['preview', { when: 'noon' }],
    ] as const)
      expect((await reader.tool(name, args)).isError).toBe(false)
    for (const [name, args] of [
      ['set', { delay: '1h' }],
      ['cancel', { id }],
      ['reschedule', { id, delay: '1h' }],
      ['complete', { id }],
      ['fail', { id }],
      ['inbox', { wait: '0s' }],
      ['ack', { occurrence_id: 'x' }],
    ] as const)
      expect((await reader.tool(name, args)).text).toMatch(/^forbidden: This needs a key with write rights/)
    expect((await ann.tool('get', { id })).structured.status).toBe('active')
  })

  it('loses access when its key is revoked, even during a wait', async () => {
    const made = await newKey({ tenant: 'acme', owner: `gone-${era}` })
    const gone = await agent(made.key)
    expect((await gone.tool('list')).isError).toBe(false)
    const waiting = gone.tool('inbox', { wait: '30s' })
    // It must have started, so that it is not authentication that rejects it.
    await new Promise((resolve) => setTimeout(resolve, 200))
    await operator('DELETE', `/v1/keys/${made.id}`)
    expect((await waiting).text).toMatch(/^unauthorized: This key is unknown/)
    await expect(gone.tool('list')).rejects.toThrow()
    await expect(agent(made.key)).rejects.toThrow()
  })

  it('is limited by its quotas, with advice', async () => {
    const tenant = `bounded-${era}`
    await operator('PUT', `/v1/tenants/${tenant}`, {
      owner_quotas: { active_alarms: 2, wakes_per_hour: 3, payload_bytes: 10 },
    })
    const bounded = await agent((await newKey({ tenant, owner: 'agent' })).key)
    const large = await bounded.tool('set', { delay: '1h', payload: 'far more than ten bytes' })
    expect(large.text).toMatch(/^payload_too_large: .*10 .*payload_bytes.*\n/)
    for (let n = 0; n < 2; n++) expect((await bounded.tool('set', { delay: '1h' })).isError).toBe(false)
    expect((await bounded.tool('set', { delay: '1h' })).text).toMatch(
      /^quota_exceeded: you may have 2 active alarms.*\n.* Try again in 1m\.$/,
    )
    const free = await agent((await newKey({ tenant, owner: 'other' })).key)
    for (let n = 0; n < 3; n++) {
      const { structured } = await free.tool('set', { delay: '1s' })
      await free.tool('cancel', { id: structured.id })
    }
    expect((await free.tool('set', { delay: '1s' })).text).toMatch(/^quota_exceeded: .*wakes_per_hour/)
  })

  it('without a valid key gets no access', async () => {
    await expect(httpAgent(server.url, {}, era)).rejects.toThrow()
    await expect(agent('wk_0000000000000000_nonsense')).rejects.toThrow()
  })
})

it('has logged no error', () => {
  expect(server.errors).toEqual([])
  expect(server.lines.filter((line) => line.includes('"level":"error"'))).toEqual([])
})

/** An error without the name in the request. */
function comparable({ text, json, structured }: Answered, name: string) {
  return [text.replaceAll(name, 'NAME'), json.replaceAll(name, 'NAME'), structured]
}

/** An id of the same form that does not exist. */
function nextId(id: string): string {
  return id.slice(0, -1) + (id.endsWith('0') ? '1' : '0')
}

/** A wake in Ann's inbox. */
async function delivered(key: string): Promise<string> {
  const ann = server.wakeful.forTenant('acme', 'ann')
  const { id } = await ann.set({ delay: '1ms' }, { key, target: 'inbox', ack: 'report' })
  for (;;) {
    await server.wakeful.tick()
    const fired = await ann.get(id)
    if (fired?.status === 'fired') break
  }
  for await (const event of ann.events({ alarmId: id }))
    if (event.occurrenceId !== null) return event.occurrenceId
  throw new Error('it was not delivered')
}

async function keysOf() {
  const made = await server.call('POST', '/v1/keys', { tenant: '*', rights: 'admin' })
  const operator = (method: string, path: string, body?: unknown) =>
    server.call(method, path, body, { authorization: `Bearer ${made.json.key}` })
  const key = async (body: object): Promise<string> => (await operator('POST', '/v1/keys', body)).json.key
  return {
    operator,
    keys: {
      ann: await key({ tenant: 'acme', owner: 'ann' }),
      bob: await key({ tenant: 'acme', owner: 'bob' }),
      other: await key({ tenant: 'other', owner: 'ann' }),
      reader: await key({ tenant: 'acme', owner: 'ann', rights: 'read' }),
      platform: await key({ tenant: 'acme' }),
    },
  }
}

async function newKey(body: object): Promise<{ id: string; key: string }> {
  return (await operator('POST', '/v1/keys', body)).json
}
