import { randomUUID } from 'node:crypto'
import { dirname } from 'node:path'
import { describe, expect, inject, test, vi } from 'vitest'
import { open, type Wakeful } from '../../src/index.ts'
import { command, serve } from '../server/cli-process.ts'
import { enterRunning, newPath } from './actors.ts'
import { openSink } from './sink.ts'

const SECRET = 'the secret that every process should have'
const WEBHOOKS = 200
/** Waits for heartbeats of real processes, on a busy machine too. */
const PATIENCE = { timeout: 60_000, interval: 50 }

interface Ready {
  readonly status: string
  readonly checks: Readonly<Record<string, unknown>>
}

/** Whether this process, and no other, holds every shard of the built-in targets. */
async function servesAll(wakeful: Wakeful): Promise<boolean> {
  const pools = (await wakeful.operator.readings()).pools.filter(({ pool }) => pool === 'wakeful')
  return pools.every(({ here, elsewhere, nobody }) => here > 0 && elsewhere + nobody === 0)
}

describe.for([
  ['SQLite', () => newPath()],
  ['PostgreSQL', () => `${inject('postgres')}postgres?schema=without_secret_${randomUUID().slice(0, 8)}`],
] as const)('a process without the secret of its store, on %s', ([, newStore]) => {
  test('gives the webhooks back to those that have it, runs its own handlers, and says so once', {
    timeout: 120_000,
  }, async () => {
    const url = newStore()
    const sink = await openSink()
    // First, so that it holds the shards: the store has no secret yet.
    // In a folder of its own: the secret of a database is a file in the current one.
    const without = await enterRunning(url, {}, { cwd: dirname(newPath()) })
    const wakeful = await open(url, { secret: SECRET, allowPrivateTargets: true, pool: 'other' })
    try {
      await wakeful.start()
      await vi.waitUntil(() => servesAll(wakeful), PATIENCE)
      await wakeful.setMany(
        Array.from({ length: WEBHOOKS }, () => ({
          when: { delay: '10ms' },
          target: { webhook: sink.url },
        })),
      )
      await sink.received(WEBHOOKS)
      await without.set(10, { message: 'own' })
      await without.fired('own')
      expect(without.errors.filter((text) => text.includes('secret is missing'))).toHaveLength(1)
      expect(await servesAll(wakeful)).toBe(true)
    } finally {
      await wakeful.close()
    }
  })

  test('is refused by `serve`, named by doctor, and not ready if it ran before', {
    timeout: 120_000,
  }, async () => {
    const url = newStore()
    const args = ['--db', url, '--metrics', 'open']
    const folder = dirname(newPath())
    const early = await serve(args, {}, folder)
    const wakeful = await open(url, { secret: SECRET })
    try {
      await wakeful.webhooks.secret()
    } finally {
      await wakeful.close()
    }
    const ready = async () => (await (await fetch(`${early.url}/readyz`)).json()) as Ready
    await vi.waitUntil(async () => (await ready()).status === 'unavailable', PATIENCE)
    expect((await ready()).checks.secret).toEqual({
      ok: false,
      detail: expect.stringContaining('lacks the secret'),
    })
    await vi.waitUntil(async () => /wakeful_secret_ok 0/.test(await metrics(early.url)), PATIENCE)
    await vi.waitUntil(() => /leaves pool wakeful/.test(early.output()), PATIENCE)
    early.child.kill('SIGTERM')
    await early.ended

    await expect(serve(args, {}, folder)).rejects.toThrow(/ended with 2.*secret is missing.*WAKEFUL_SECRET/s)
    await expect(serve(args, { WAKEFUL_SECRET: `${SECRET}!` }, folder)).rejects.toThrow('another secret')
    const doctor = (env: Record<string, string>) => command(['doctor', '--db', url], env, folder)
    await expect(doctor({})).rejects.toThrow(/FAIL {2}secret: .*secret is missing/)
    await expect(doctor({ WAKEFUL_SECRET: `${SECRET}!` })).rejects.toThrow(/FAIL {2}secret: .*another secret/)
    expect(await doctor({ WAKEFUL_SECRET: SECRET }).catch((failed: Error) => failed.message)).toMatch(
      /ok {4}secret: this environment has the store’s/,
    )
    const whole = await serve(args, { WAKEFUL_SECRET: SECRET }, folder)
    await vi.waitUntil(async () => /wakeful_secret_ok 1/.test(await metrics(whole.url)), PATIENCE)
    whole.child.kill('SIGTERM')
    expect(await whole.ended).toBe(0)
  })
})

async function metrics(url: string): Promise<string> {
  return (await fetch(`${url}/metrics`)).text()
}
