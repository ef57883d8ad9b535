import { beforeAll, describe, expect, it } from 'vitest'
import { connect } from '../../src/client/index.ts'
import type { Rights } from '../../src/contracts/index.ts'
import { testDatabase } from '../postgres/database.ts'
import { caller, type Serving, serving } from './harness.ts'
import { keysOf } from './keys-of.ts'
import { connected } from './ws-client.ts'

const database = testDatabase()
const PAGES = ['/v1/alarms', '/v1/history', '/v1/failed', '/v1/events']
/** Each with the owner of its tenant and the correlation id that all of them share. */
const EVERYBODY = [
  { tenant: 'acme', owner: 'ann' },
  { tenant: 'acme', owner: 'bob' },
  { tenant: 'globex', owner: 'ann' },
]

describe.each(['sqlite', 'postgres'])('reads across owners and tenants, on %s', (kind) => {
  let server: Serving = undefined!
  const ids: string[] = []
  const failing: string[] = []

  beforeAll(async () => {
    server = await serving(kind === 'sqlite' ? {} : { store: database.url })
    server.wakeful.handle('broken', () => {
      throw new Error('broken')
    })
    for (const { tenant, owner } of EVERYBODY) {
      const alarms = server.wakeful.forTenant(tenant, owner)
      const options = { label: 'shared', correlationId: 'trace-1', target: { event: true } as const }
      ids.push((await alarms.set({ delay: '1h' }, options)).id)
      const failed = await alarms.set({ delay: '0s' }, { target: 'broken', maxFailures: 1 })
      failing.push(failed.id)
    }
    await server.wakeful.tick()
  })

  /** Calls as the holder of a new key. */
  async function holder(
    tenant: string,
    owner: string | null,
    rights: Rights,
    named: Record<string, string> = {},
  ) {
    const { key } = await keysOf(server.wakeful).keys(tenant, owner, rights)
    return { key, call: caller(server.url, { authorization: `Bearer ${key}`, ...named }) }
  }

  it('are open to the caller without a key, on this machine', async () => {
    const all = await server.call('GET', '/v1/alarms?tenant=*&label=shared')
    expect(all.json.items.map(place)).toEqual(EVERYBODY.toReversed())
    expect((await server.call('GET', '/v1/alarms?owner=*')).json.items).toEqual([])
    const acme = await server.call('GET', '/v1/alarms?owner=*&label=shared', undefined, {
      'wakeful-tenant': 'acme',
    })
    expect(acme.json.items.map(place)).toEqual(EVERYBODY.slice(0, 2).toReversed())
    const found = await server.call('GET', `/v1/alarms/${ids[2]}?tenant=*`)
    expect(found.json).toMatchObject({ id: ids[2], tenant: 'globex', owner: 'ann' })
  })

  it('follow the log of all tenants, by the client and a stream, and that of nobody else', async () => {
    const all = connect(server.url).allTenants()
    const after = await all.newest()
    const followed = all.events({ after, follow: true, type: 'door.*' })
    const next = followed.next()
    await server.wakeful.forTenant('globex', 'ann').append({ type: 'window.opened', data: {} })
    const door = await server.wakeful.forTenant('globex', 'ann').append({ type: 'door.opened', data: {} })
    expect((await next).value).toMatchObject({ id: door.id, tenant: 'globex', owner: 'ann' })
    await followed.return?.()
    const own = await Array.fromAsync(connect(server.url).events({ after, type: 'door.*' }))
    expect(own).toEqual([])
    const { call } = await holder('acme', 'ann', 'admin')
    for (const query of ['owner=*', 'tenant=*'])
      expect((await call('GET', `/v1/events/stream?${query}`)).json.code).toBe('forbidden')
  })

  it('show a platform all owners of its tenant, and no other tenant', async () => {
    const { call, key } = await holder('acme', null, 'read')
    for (const path of PAGES) {
      const { json } = await call('GET', `${path}?owner=*`)
      expect(new Set(json.items.map((each: Place) => each.tenant)), path).toEqual(new Set(['acme']))
      expect(new Set(json.items.map((each: Place) => each.owner)), path).toEqual(new Set(['ann', 'bob']))
      expect((await call('GET', `${path}?tenant=*`)).json.code, path).toBe('forbidden')
    }
    expect((await call('GET', '/v1/stats?owner=*')).json).toMatchObject({ total: 4, pending: 2, failed: 2 })
    expect((await call('GET', '/v1/alarms?owner=*&correlation_id=trace-1')).json.items).toHaveLength(2)
    expect((await call('GET', '/v1/alarms?owner=*&order=due')).json.items.map(idOf)).toEqual(ids.slice(0, 2))
    expect((await call('GET', `/v1/alarms/${ids[0]}?owner=*`)).json).toMatchObject({ owner: 'ann' })
    expect((await call('GET', `/v1/alarms/${ids[0]}/why?owner=*`)).json).toMatchObject({ owner: 'ann' })
    // Without it, and without rights of an admin, it acts as the owner that it names.
    expect((await call('GET', `/v1/alarms/${ids[0]}`)).json.code).toBe('not_found')
    const remote = connect(server.url, { key })
    const page = await remote.allOwners().list({ label: 'shared' })
    expect(page.items.map(place)).toEqual(EVERYBODY.slice(0, 2).toReversed())
    expect(await remote.allOwners().stats()).toMatchObject({ total: 4 })
    await expect(remote.allTenants().stats()).rejects.toMatchObject({ code: 'forbidden' })
  })

  it('show an operator all tenants, page by page', async () => {
    const { call, key } = await holder('*', null, 'admin')
    for (const path of PAGES) {
      const { json } = await call('GET', `${path}?tenant=*`)
      expect(new Set(json.items.map((each: Place) => each.tenant)), path).toEqual(new Set(['acme', 'globex']))
    }
    const paged: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: string = `tenant=*&limit=1&correlation_id=trace-1${cursor && `&cursor=${cursor}`}`
      const { json } = await call('GET', `/v1/alarms?${query}`)
      paged.push(...json.items.map(idOf))
      cursor = json.next_cursor
    }
    expect(paged).toEqual(ids.toReversed())
    expect((await call('GET', '/v1/stats?tenant=*')).json).toMatchObject({ total: 6, pending: 3, failed: 3 })
    const remote = connect(server.url, { key })
    expect((await remote.allTenants().failed()).map(({ id }) => id).toSorted()).toEqual(failing.toSorted())
    expect(await remote.allTenants().why(failing[2]!)).toMatchObject({ tenant: 'globex', owner: 'ann' })
    expect(JSON.parse((await remote.allTenants().wire(ids[0]!))!)).toMatchObject({ tenant: 'acme' })
  })

  it('find an alarm by its id for an admin who does not know its owner', async () => {
    const operator = await holder('*', null, 'admin')
    const admin = await holder('acme', null, 'admin')
    for (const path of [`/v1/alarms/${ids[2]}`, `/v1/alarms/${ids[2]}/why`]) {
      expect((await operator.call('GET', path)).json, path).toMatchObject({ tenant: 'globex', owner: 'ann' })
      expect((await admin.call('GET', path)).json.code, path).toBe('not_found')
      const named = { 'wakeful-tenant': 'acme' }
      expect((await operator.call('GET', path, undefined, named)).json.code, path).toBe('not_found')
    }
    for (const path of [`/v1/alarms/${ids[1]}`, `/v1/alarms/${ids[1]}/why`]) {
      expect((await admin.call('GET', path)).json, path).toMatchObject({ tenant: 'acme', owner: 'bob' })
      // Who names an owner acts as that owner.
      const named = { 'wakeful-owner': 'ann' }
      expect((await admin.call('GET', path, undefined, named)).json.code, path).toBe('not_found')
    }
    const own = await admin.call('GET', `/v1/alarms/${ids[1]}`, undefined, { 'wakeful-owner': 'bob' })
    expect(own.json).not.toHaveProperty('owner')
    expect((await admin.call('DELETE', `/v1/alarms/${ids[1]}`)).json.code).toBe('not_found')
  })

  it.each(['read', 'write', 'admin'] as const)('are forbidden to a key of one owner (%s)', async (rights) => {
    const { call, key } = await holder('acme', 'ann', rights)
    const paths = [...PAGES, '/v1/stats', `/v1/alarms/${ids[1]}`, `/v1/alarms/${ids[1]}/why`]
    const wire = await connected(server.url, { headers: { authorization: `Bearer ${key}` } })
    for (const all of ['owner', 'tenant']) {
      for (const path of paths)
        expect((await call('GET', `${path}?${all}=*`)).json.code, path).toBe('forbidden')
      expect((await wire.call('alarms', { [all]: '*' })).error).toMatchObject({ code: 'forbidden' })
    }
    wire.socket.terminate()
    for (const path of [`/v1/alarms/${ids[1]}`, `/v1/alarms/${ids[1]}/why`])
      expect((await call('GET', path)).json.code, path).toBe('not_found')
  })

  it.each([
    ['*', 'ann', 'admin'],
    ['*', null, 'write'],
    ['acme', null, 'admin'],
  ] as const)(
    'across tenants are forbidden to a key of tenant %s, owner %s, rights %s',
    async (tenant, owner, rights) => {
      const { call } = await holder(tenant, owner, rights)
      for (const path of [...PAGES, '/v1/stats', `/v1/alarms/${ids[1]}`])
        expect((await call('GET', `${path}?tenant=*`)).json.code, path).toBe('forbidden')
    },
  )

  it('are forbidden to a ticket, which is issued for one owner', async () => {
    const { call } = await holder('acme', null, 'admin', { 'wakeful-owner': 'ann' })
    const { json } = await call('POST', '/v1/tickets')
    const wire = await connected(server.url, { query: `?ticket=${json.ticket}` })
    expect((await wire.call('alarms', { owner: '*' })).error).toMatchObject({ code: 'forbidden' })
    expect((await wire.call('why', { id: ids[1]! })).error).toMatchObject({ code: 'not_found' })
    expect((await wire.call('alarms', { label: 'shared' })).result.items.map(idOf)).toEqual([ids[0]])
    wire.socket.terminate()
  })

  it('take * and nothing else', async () => {
    const { call } = await holder('*', null, 'admin')
    for (const query of ['owner=ann', 'tenant=acme', 'owner=', 'order=due&owner=**'])
      expect((await call('GET', `/v1/alarms?${query}`)).json.code, query).toBe('invalid_request')
  })

  it('list every tenant that has anything, with its figures', async () => {
    const { call } = await holder('*', null, 'admin')
    await holder('keyed', 'x', 'read')
    await server.wakeful.forTenant('calm').append({ type: 'a.b' })
    const whole = await call('GET', '/v1/tenants?limit=500')
    const found = whole.json.items.map((each: Tenant) => [each.tenant, each.stats.total])
    expect(found).toEqual([
      ['acme', 4],
      ['calm', 0],
      ['globex', 2],
      ['keyed', 0],
    ])
    const names: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: string = `limit=2${cursor && `&cursor=${cursor}`}`
      const { json } = await call('GET', `/v1/tenants?${query}`)
      names.push(...json.items.map((each: Tenant) => each.tenant))
      cursor = json.next_cursor
    }
    expect(names).toEqual(found.map(([name]: [string]) => name))
    expect((await call('GET', '/v1/tenants/acme')).json.stats).toMatchObject({ total: 4, failed: 2 })
  })

  it('logged no errors', () => expect(server.errors).toEqual([]))
})

interface Place {
  readonly id: string
  readonly tenant: string
  readonly owner: string
}

interface Tenant {
  readonly tenant: string
  readonly stats: { readonly total: number }
}

function place({ tenant, owner }: Place) {
  return { tenant, owner }
}

function idOf({ id }: Place): string {
  return id
}
