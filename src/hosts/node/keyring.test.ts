import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { VirtualClock } from '../../testing/index.ts'
import { Keyring } from './keyring.ts'
import { makeSecretFile, Secret } from './secret.ts'
import { WebhookSecrets } from './webhook-secrets.ts'

const TEXT = 'a secret of more than thirty-two characters'
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wakeful-secret-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Facts and documents as a store keeps them. */
function memory() {
  const facts = new Map<string, string>()
  const documents = new Map<string, { value: string; version: number }>()
  return {
    facts,
    documents,
    getMeta: async (name: string) => facts.get(name) ?? null,
    putMeta: async (name: string, value: string) => void facts.set(name, value),
    getDocument: async (_: string, name: string) => (documents.get(name) ?? null) as never,
    putDocument: async ({ name, value }: { name: string; value: string }, _: number, version?: number) => {
      const known = documents.get(name)?.version ?? 0
      if (version !== undefined && version !== known) return null
      documents.set(name, { value, version: known + 1 })
      return documents.get(name) as never
    },
    listDocuments: async () => [],
    removeDocument: async (_: string, name: string) => documents.delete(name),
  }
}

const fail = (thrown: unknown) => {
  throw thrown
}

describe('a secret', () => {
  test('derives the same for the same purpose, and nothing alike for another', () => {
    const secret = new Secret(TEXT, 'x')
    expect(secret.derive('a')).toEqual(new Secret(`${TEXT}\n`, 'x').derive('a'))
    expect(secret.derive('a')).not.toEqual(secret.derive('b'))
    expect(secret.fingerprint).toMatch(/^[0-9a-f]{16}$/)
  })

  test('seals so that only the same secret opens it, for the same purpose, unchanged', () => {
    const secret = new Secret(TEXT, 'x')
    const sealed = secret.seal('hunter2', 'p')
    expect(sealed).not.toContain('hunter2')
    // Equal headers of one URL are equal when sealed, so that a set by key that repeats them changes nothing.
    expect(secret.seal('hunter2', 'p')).toBe(sealed)
    for (const [text, purpose] of [
      ['hunter3', 'p'],
      ['hunter2', 'q'],
    ] as const)
      expect(secret.seal(text, purpose).slice(0, 15)).not.toBe(sealed.slice(0, 15))
    expect(secret.open(sealed, 'p')).toBe('hunter2')
    expect(() => secret.open(sealed, 'q')).toThrow('another secret, or for another target')
    expect(() => new Secret(`${TEXT}!`, 'x').open(sealed, 'p')).toThrow('another secret')
    for (const wrong of ['', 'v1.', 'v1.AAAA', sealed.slice(0, -2), `v2.${sealed.slice(3)}`])
      expect(() => secret.open(wrong, 'p')).toThrow('another secret')
    const flipped = Buffer.from(sealed.slice(3), 'base64url')
    for (let bit = 0; bit < flipped.length * 8; bit++) {
      flipped[bit >> 3]! ^= 1 << (bit & 7)
      expect(() => secret.open(`v1.${flipped.toString('base64url')}`, 'p')).toThrow()
      flipped[bit >> 3]! ^= 1 << (bit & 7)
    }
  })

  test('that is short is refused, and not repeated', () => {
    expect(() => new Secret('hunter2', 'WAKEFUL_SECRET')).toThrow(/WAKEFUL_SECRET is 7 characters.*openssl/)
  })

  test('is made once, for its owner’s eyes, and read from then on', () => {
    const path = join(folder, 'a.secret')
    const made = makeSecretFile(path)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(makeSecretFile(path).fingerprint).toBe(made.fingerprint)
    expect(readdirSync(folder)).toEqual(['a.secret'])
    expect(readFileSync(path, 'utf8').trim()).toHaveLength(43)
    expect(() => makeSecretFile(join(folder, 'no', 'where.secret'))).toThrow(/WAKEFUL_SECRET/)
  })
})

describe('a keyring', () => {
  const path = () => join(folder, 'a.db.secret')

  test('makes no file before it is needed, and has the store remember its fingerprint', async () => {
    const store = memory()
    const ring = await Keyring.open({ configured: undefined, path: path(), store, onError: fail })
    expect([ring.isUsable, readdirSync(folder), store.facts.size]).toEqual([true, [], 0])
    const secret = await ring.secret()
    expect(store.facts.get('secret_fingerprint')).toBe(secret.fingerprint)
    expect(readdirSync(folder)).toEqual(['a.db.secret'])
  })

  test('refuses another secret than the store’s, by option and by file', async () => {
    const store = memory()
    await (await Keyring.open({ configured: TEXT, path: path(), store, onError: fail })).secret()
    const withSecret = (configured?: string) =>
      Keyring.open({ configured, path: path(), store, onError: fail })
    const other = await withSecret(`${TEXT}!`)
    expect((await other.check())?.message).toMatch(/another secret.*WAKEFUL_SECRET/)
    expect(() => other.seal('a', 'b')).toThrow('another secret')
    writeFileSync(path(), `${TEXT}?`)
    expect((await (await withSecret()).check())?.reason).toBe('secret.other')
    expect(await (await withSecret(TEXT)).check()).toBeNull()
  })

  test('without the store’s secret can neither sign nor seal, and makes none', async () => {
    const store = memory()
    store.facts.set('secret_fingerprint', 'ffff')
    const ring = await Keyring.open({ configured: undefined, path: path(), store, onError: fail })
    expect([ring.isUsable, (await ring.check())?.reason]).toEqual([false, 'secret.missing'])
    expect(() => ring.seal('a', 'b')).toThrow(/is missing.*WAKEFUL_SECRET/)
    await expect(ring.secret()).rejects.toThrow('secret is missing')
    expect(readdirSync(folder)).toEqual([])
  })

  test('makes a configured secret the store’s before anything is signed', async () => {
    const store = memory()
    const ring = await Keyring.open({ configured: TEXT, path: path(), store, onError: fail })
    expect(await ring.check()).toBeNull()
    expect(store.facts.get('secret_fingerprint')).toBe(new Secret(TEXT, 'x').fingerprint)
  })

  test('learns that the store has a secret by now, and uses the file that another process created', async () => {
    const store = memory()
    const ring = await Keyring.open({ configured: undefined, path: path(), store, onError: fail })
    expect(await ring.check()).toBeNull()
    store.facts.set('secret_fingerprint', new Secret(TEXT, 'x').fingerprint)
    expect((await ring.check())?.reason).toBe('secret.missing')
    writeFileSync(path(), TEXT)
    expect(await ring.check()).toBeNull()
    expect((await ring.secret()).fingerprint).toBe(new Secret(TEXT, 'x').fingerprint)
  })

  test('that made one while another process did too is reported, and signs and seals nothing more', async () => {
    const store = memory()
    const ring = await Keyring.open({ configured: undefined, path: path(), store, onError: fail })
    store.facts.set('secret_fingerprint', 'ffff')
    await expect(ring.secret()).rejects.toThrow('another secret')
    expect(ring.isUsable).toBe(false)
    expect(() => ring.seal('a', 'b')).toThrow('another secret')
  })
})

describe('a tenant’s secrets', () => {
  async function bench() {
    const store = memory()
    const clock = new VirtualClock('2030-01-01T00:00:00Z')
    const ring = await Keyring.open({ configured: TEXT, path: null, store, onError: fail })
    return { store, clock, secrets: new WebhookSecrets(ring, store, clock) }
  }

  test('are its own, and of 32 bytes', async () => {
    const { secrets } = await bench()
    const { secret, former } = await secrets.read('a')
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(former).toBeNull()
    expect((await secrets.read('b')).secret).not.toBe(secret)
    expect((await secrets.read('a')).secret).toBe(secret)
  })

  test('rotate: the former signs for another day, and the document contains only a number', async () => {
    const { secrets, store, clock } = await bench()
    store.documents.set('a', { value: '{"paused":true}', version: 3 })
    const before = await secrets.read('a')
    const signed = (await secrets.of('a')).map((key) => key.sign('x'))
    expect(signed).toHaveLength(1)
    const after = await secrets.rotate('a')
    expect(after).toMatchObject({ former: before.secret, formerUntil: new Date('2030-01-02T00:00:00Z') })
    const value = JSON.parse(store.documents.get('a')!.value) as object
    expect(value).toEqual({ paused: true, webhook_secret: { number: 2, rotated_at: Date.UTC(2030, 0, 1) } })
    expect((await secrets.of('a')).map((key) => key.sign('x'))).toEqual([expect.any(String), signed[0]])
    await clock.advance('24h')
    expect(await secrets.of('a')).toHaveLength(1)
    expect(await secrets.read('a')).toMatchObject({ secret: after.secret, former: null, formerUntil: null })
  })

  test('rotate again within the day: each former one signs for its own day', async () => {
    const { secrets, clock } = await bench()
    const receivers = (await secrets.of('a'))[0]!.sign('x')
    await secrets.rotate('a')
    await clock.advance('1h')
    const second = await secrets.read('a')
    expect(await secrets.rotate('a')).toMatchObject({
      former: second.secret,
      formerUntil: new Date('2030-01-02T01:00:00Z'),
    })
    const signed = async () => (await secrets.of('a')).map((key) => key.sign('x'))
    expect(await signed()).toHaveLength(3)
    expect((await signed())[2]).toBe(receivers)
    await clock.advance('23h')
    expect(await signed()).toHaveLength(2)
    expect(await signed()).not.toContain(receivers)
    await clock.advance('1h')
    expect(await signed()).toHaveLength(1)
  })

  test('rotate no more while ten former ones sign', async () => {
    const { secrets, store, clock } = await bench()
    for (let rotations = 0; rotations < 10; rotations++) {
      await secrets.rotate('a')
      await clock.advance('1h')
    }
    await expect(secrets.rotate('a')).rejects.toMatchObject({
      code: 'conflict',
      message: /10 former secrets sign yet.* after 2030-01-02T00:00:00.000Z/,
    })
    expect(await secrets.of('a')).toHaveLength(11)
    await clock.advance('14h')
    await secrets.rotate('a')
    expect(await secrets.of('a')).toHaveLength(11)
    expect(JSON.parse(store.documents.get('a')!.value).webhook_secret.earlier).toHaveLength(9)
  })

  test('that another process rotated are known within half a second', async () => {
    const { secrets, store, clock } = await bench()
    await secrets.of('a')
    store.documents.set('a', {
      value: JSON.stringify({ webhook_secret: { number: 2, rotated_at: '2030-01-01T00:00:00Z' } }),
      version: 1,
    })
    expect(await secrets.of('a')).toHaveLength(1)
    await clock.advance(500)
    expect(await secrets.of('a')).toHaveLength(2)
  })
})
