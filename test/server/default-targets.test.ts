import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, it } from 'vitest'
import { connect } from '../../src/client/index.ts'
import { caller, serving } from './harness.ts'
import { keysOf } from './keys-of.ts'
import { httpAgent } from './mcp/agents.ts'

/** The paths that a local receiver was called at, with the owner in the body. */
const calls: string[] = []
const sink = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk) => (body += chunk))
  request.on('end', () => {
    calls.push(`${request.url} ${JSON.parse(body).owner}`)
    response.end()
  })
})
await new Promise<void>((resolve) => sink.listen(0, '127.0.0.1', resolve))
afterAll(() => void sink.close())
const hook = (path: string) => `http://127.0.0.1:${(sink.address() as AddressInfo).port}${path}`

const server = await serving({
  open: { allowPrivateTargets: true, defaultTarget: { webhook: hook('/server/{{user_id}}') } },
})
await server.wakeful.start()

async function called(path: string): Promise<void> {
  while (!calls.includes(path)) await new Promise((resolve) => setTimeout(resolve, 20))
}

it('are looked up from the owner over the tenant to the server, when an alarm fires', async () => {
  const as = (tenant: string, owner: string) =>
    caller(server.url, { 'wakeful-tenant': tenant, 'wakeful-owner': owner })
  const ann = as('acme', 'did:matrix:ann%252F..:key')
  const fire = async (call: typeof ann) => {
    const set = await call('POST', '/v1/alarms', { delay: '10ms' })
    expect(set.json).toMatchObject({ target: 'default' })
  }
  await fire(ann)
  await called('/server/ann%252F.. did:matrix:ann%2F..:key')
  expect((await ann('GET', '/v1/tenant/target')).json.reason).toBe('target.no_tenant_default')

  const target = { webhook: hook('/tenant/{{user_id}}?of={{owner}}') }
  expect((await ann('PUT', '/v1/tenant/target', { target })).json).toEqual({ target })
  expect((await ann('GET', '/v1/tenant/target')).json).toEqual({ target })
  expect((await ann('GET', '/v1/owner/target')).json.reason).toBe('target.no_default')
  await fire(as('acme', 'bob'))
  await called('/tenant/bob?of=bob bob')
  // Another tenant does not see it.
  await fire(as('globex', 'bob'))
  await called('/server/bob bob')

  await as('acme', 'carl')('PUT', '/v1/owner/target', { target: { webhook: hook('/own') } })
  await fire(as('acme', 'carl'))
  await called('/own carl')
  expect((await ann('DELETE', '/v1/tenant/target')).json).toEqual({ removed: true })
  await fire(as('acme', 'dora'))
  await called('/server/dora dora')
})

it('of a tenant need a key of the whole tenant, and are in its log', async () => {
  const keyed = await serving()
  const { keys } = keysOf(keyed.wakeful)
  const with_ = async (owner: string | null, rights: 'write' | 'admin') =>
    caller(keyed.url, { authorization: `Bearer ${(await keys('acme', owner, rights)).key}` })
  const put = ['PUT', '/v1/tenant/target', { target: 'inbox' }] as const
  expect((await (await with_('ann', 'admin'))(...put)).json).toMatchObject({ reason: 'access.whole_tenant' })
  expect((await (await with_(null, 'write'))(...put)).status).toBe(403)
  const platform = await with_(null, 'admin')
  expect((await platform(...put)).json).toEqual({ target: 'inbox' })
  expect((await platform('PUT', '/v1/tenant/target', { target: 'handler' })).json).toMatchObject({
    reason: 'target.not_as_default',
  })
  const events = (await platform('GET', '/v1/events')).json.items
  expect(events.map(({ type }: { type: string }) => type)).toContain('admin.tenant_target_put')
  // A key of one owner uses it without seeing it.
  const ann = await with_('ann', 'write')
  expect((await ann('POST', '/v1/alarms', { delay: '1h' })).json).toMatchObject({ target: 'default' })
})

it('are the same calls of the client, and those of an agent that names no target', async () => {
  const other = await serving()
  const remote = connect(other.url).forTenant('acme', 'ann')
  await expect(remote.set({ delay: '1h' })).rejects.toThrow('has no target')
  expect(await remote.tenantDefaultTarget.get()).toBeNull()
  expect(await remote.tenantDefaultTarget.put('inbox')).toBe('inbox')
  expect(await other.wakeful.forTenant('acme').tenantDefaultTarget.get()).toBe('inbox')
  expect(await remote.set({ delay: '1h' })).toMatchObject({ targetKind: 'default' })
  const { client } = await httpAgent(other.url, { 'wakeful-tenant': 'acme', 'wakeful-owner': 'bob' })
  const set = await client.callTool({ name: 'set', arguments: { delay: '1h' } })
  expect(JSON.stringify(set)).toContain('to your default target')
  expect(await remote.tenantDefaultTarget.remove()).toBe(true)
  expect(await remote.tenantDefaultTarget.remove()).toBe(false)
  await client.close()
})

it('of a server is a webhook or the inbox, and its URL is checked', async () => {
  const { open } = await import('../../src/index.ts')
  const refused = (defaultTarget: object | string) =>
    open('sqlite::memory:', { defaultTarget: defaultTarget as string })
  await expect(refused('remind')).rejects.toMatchObject({ field: 'defaultTarget' })
  await expect(refused({ webhook: 'https://{{user_id}}.example.com/' })).rejects.toThrow('in its host')
  await expect(refused({ webhook: 'http://127.0.0.1/' })).rejects.toThrow('loopback')
})
