import { expect, it } from 'vitest'
import { connect } from '../../src/client/index.ts'
import { serving } from './harness.ts'

const { url, call } = await serving()
const headers = { 'wakeful-owner': 'filters' }
const ann = connect(url, { owner: 'filters' })

/** Three events about a door, one about a window, and those of an alarm. */
async function fill() {
  const open = await ann.append({ type: 'door.opened', subject: 'door', correlationId: 'visit-1', data: {} })
  const alarm = await ann.set('in 1 hour', {
    target: { event: true },
    subject: 'door',
    correlationId: 'visit-1',
  })
  await ann.pause(alarm.id)
  await ann.cancel(alarm.id)
  await ann.append({ type: 'door.closed', subject: 'door', correlationId: 'visit-2', data: {} })
  await ann.append({ type: 'window.opened', subject: 'window', data: {} })
  return { open, alarm }
}

const { alarm } = await fill()

async function typesOf(query: string): Promise<string[]> {
  const { status, json } = await call('GET', `/v1/events?${query}`, undefined, headers)
  expect(json).not.toHaveProperty('code')
  expect(status).toBe(200)
  return json.items.map(({ type }: { type: string }) => type)
}

const CASES: [string, string[]][] = [
  ['type=door.opened', ['door.opened']],
  ['type=door.opened&type=alarm.paused', ['door.opened', 'alarm.paused']],
  ['type=door.*,window.*', ['door.opened', 'door.closed', 'window.opened']],
  ['type=alarm.*', ['alarm.paused', 'alarm.cancelled']],
  ['origin=caught&subject=door', ['door.opened', 'door.closed']],
  ['origin=caused', ['alarm.paused', 'alarm.cancelled']],
  ['correlation_id=visit-1', ['door.opened', 'alarm.paused', 'alarm.cancelled']],
  ['correlation_id=nobody', []],
  ['subject=window&since=1h', ['window.opened']],
  ['until=1h', []],
  [`alarm_id=${alarm.id}&type=alarm.cancelled`, ['alarm.cancelled']],
  ['type=door.*&limit=1', ['door.opened']],
]

it.each(CASES)('GET /v1/events?%s', async (query, expected) => {
  expect(await typesOf(query)).toEqual(expected)
  const page = await call('GET', `/v1/events?${query}`, undefined, { 'wakeful-owner': 'another' })
  expect(page.json.items).toEqual([])
})

it.each(['since=1h&until=2h', 'since=1h&until=1h', 'since=2030-01-02T00:00:00Z&until=2030-01-01T00:00:00Z'])(
  'refuses %s, which no event can match',
  async (query) => {
    const { status, json } = await call('GET', `/v1/events?${query}`, undefined, headers)
    expect({ status, reason: json.reason }).toEqual({ status: 400, reason: 'event.since_after_until' })
    expect(json.detail).toMatch(/^`until` \(.*\) must be after `since` \(.*\), or no event can match/)
  },
)

it('continues a filtered page from its cursor, until the cursor stays the same', async () => {
  const seen: string[] = []
  for (let after = ''; ; ) {
    const { json } = await call('GET', `/v1/events?type=door.*&limit=1${after}`, undefined, headers)
    seen.push(...json.items.map(({ type }: { type: string }) => type))
    if (after === `&after=${json.next_cursor}`) break
    after = `&after=${json.next_cursor}`
  }
  expect(seen).toEqual(['door.opened', 'door.closed'])
})

it('refuses filters that can match nothing, by name', async () => {
  const detail = async (query: string) => (await call('GET', `/v1/events?${query}`)).json.detail
  expect(await detail('type=alarm.fird')).toMatch('Did you mean alarm.fired?')
  expect(await detail('type=failed')).toMatch('Did you mean alarm.failed?')
  expect(await detail('type=alarm*')).toMatch('alarm.* for all that begin with alarm.')
  expect(await detail('type=')).toMatch('`type`')
  expect(await detail('origin=cought')).toMatch('`origin`')
  expect(await detail('since=florp')).toMatch('`since`')
  expect(await detail('until=in 2 hours')).toMatch('`until`')
  expect(await detail('origin=caught&origin=caused')).toMatch('origin')
})

it('the client filters alike, also while it follows', async () => {
  const types: string[] = []
  for await (const { type } of ann.events({ type: ['door.*', 'alarm.paused'], subject: 'door' }))
    types.push(type)
  expect(types).toEqual(['door.opened', 'alarm.paused', 'door.closed'])
  const followed = ann.events({ type: 'gate.*', after: 'newest', follow: true })
  const next = followed.next()
  for (let n = 0; n < 3; n++) await ann.append({ type: 'door.opened', data: { n } })
  const gate = await ann.append({ type: 'gate.opened', data: {} })
  expect((await next).value).toMatchObject({ id: gate.id })
  await followed.return?.()
})
