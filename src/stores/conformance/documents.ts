import assert from 'node:assert/strict'
import { casesOf } from './conformance-case.ts'
import type { Harness } from './harness.ts'

/** What is stored beside the alarms. */
export const documentCases = casesOf('documents', {
  async 'come back byte for byte, with a version that grows'(harness) {
    assert.equal(await harness.store.getDocument('key', 'a'), null)
    const value = '{"n":9007199254740993, "ü":"\\u00e9"}'
    const first = await put(harness, 'a', value)
    assert.deepEqual(first, {
      kind: 'key',
      name: 'a',
      tenant: 'acme',
      value,
      version: first.version,
      updatedAt: harness.now,
    })
    assert.deepEqual(await harness.store.getDocument('key', 'a'), first)
    harness.clock.step(5)
    const second = await put(harness, 'a', '{}')
    assert.ok(second.version > first.version)
    assert.equal(second.updatedAt, first.updatedAt + 5)
    assert.deepEqual(await harness.store.getDocument('key', 'a'), second)
  },

  async 'are separate for each kind'(harness) {
    await put(harness, 'a', '1')
    assert.equal(await harness.store.getDocument('tenant', 'a'), null)
    assert.equal(await harness.store.removeDocument('tenant', 'a'), false)
    assert.deepEqual(await harness.store.listDocuments('tenant', null, '', 10), [])
  },

  async 'are written only with the current version (compare-and-set)'(harness) {
    const write = (value: string, version?: number) =>
      harness.store.putDocument({ kind: 'key', name: 'a', tenant: 'acme', value }, harness.now, version)
    assert.equal(await write('1', 7), null, 'there is none of that version')
    const first = await write('1', 0)
    assert.equal(first?.value, '1')
    assert.equal(await write('2', 0), null, 'there is one already')
    const second = await write('2', first!.version)
    assert.equal(second?.value, '2')
    assert.equal(await write('3', first!.version), null)
    assert.deepEqual(await harness.store.getDocument('key', 'a'), second)
    const racers = await Promise.all([4, 5, 6].map((n) => write(String(n), second!.version)))
    assert.equal(racers.filter((each) => each !== null).length, 1)
    assert.notEqual(await write('7'), null, 'who names none writes whatever is there')
  },

  async 'that were removed and created again have a new version'(harness) {
    const first = await put(harness, 'a', '1')
    assert.equal(await harness.store.removeDocument('key', 'a'), true)
    assert.equal(await harness.store.removeDocument('key', 'a'), false)
    assert.equal(await harness.store.getDocument('key', 'a'), null)
    assert.ok((await put(harness, 'a', '1')).version > first.version)
  },

  async 'are listed by name, page by page, of one tenant or of all'(harness) {
    const tenants: Record<string, string> = { b: 'zeta', a: 'acme', Z: 'acme', é: 'acme', c: 'acme' }
    for (const [name, tenant] of Object.entries(tenants)) await put(harness, name, '{}', tenant)
    const names = async (tenant: string | null, after = '', limit = 10) =>
      (await harness.store.listDocuments('key', tenant, after, limit)).map(({ name }) => name)
    assert.deepEqual(await names(null), ['Z', 'a', 'b', 'c', 'é'])
    assert.deepEqual(await names('acme'), ['Z', 'a', 'c', 'é'])
    assert.deepEqual(await names('zeta'), ['b'])
    assert.deepEqual(await names('acme', '', 2), ['Z', 'a'])
    assert.deepEqual(await names('acme', 'a', 2), ['c', 'é'])
    assert.deepEqual(await names('nobody'), [])
  },

  async 'are visible to other processes as soon as they are written'(harness) {
    const peer = await harness.peer()
    const first = await put(harness, 'a', '1')
    assert.deepEqual(await peer.getDocument('key', 'a'), first)
    await peer.removeDocument('key', 'a')
    assert.equal(await harness.store.getDocument('key', 'a'), null)
  },
})

async function put(harness: Harness, name: string, value: string, tenant = 'acme') {
  const document = await harness.store.putDocument({ kind: 'key', name, tenant, value }, harness.now)
  assert.notEqual(document, null)
  return document!
}
