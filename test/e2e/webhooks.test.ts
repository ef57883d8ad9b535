import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { describe, expect, inject, test } from 'vitest'
import { type OpenOptions, open, type Wakeful } from '../../src/index.ts'
import { enterRunning, newPath } from './actors.ts'
import { type Arrived, openSink } from './sink.ts'

async function opened(work: (wakeful: Wakeful, path: string) => Promise<void>, options: OpenOptions = {}) {
  const path = newPath()
  const wakeful = await open(path, { allowPrivateTargets: true, defaults: { backoffBaseMs: 20 }, ...options })
  try {
    await wakeful.start()
    await work(wakeful, path)
  } finally {
    await wakeful.close()
  }
}

/** Waits until an alarm has this status. */
async function settled(wakeful: Wakeful, id: string, status: string) {
  for (;;) {
    const alarm = (await wakeful.get(id))!
    if (alarm.status === status) return alarm
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

const typesOf = async (wakeful: Wakeful, alarmId: string) =>
  (await Array.fromAsync(wakeful.events({ alarmId }))).map(({ type }) => type)

const verified = (secret: string, { body, headers }: Arrived) =>
  new Webhook(secret).verify(body, headers as Record<string, string>)

describe('signatures', () => {
  test('a thousand webhooks are verified by the official library, and every bit flip is rejected', async () => {
    await opened(async (wakeful) => {
      const sink = await openSink()
      const payload = { text: 'ünï', list: [1, 2] }
      const items = Array.from({ length: 1_000 }, (_, index) => ({
        when: new Date(),
        target: { webhook: `${sink.url}/hook` },
        payload: { ...payload, index },
      }))
      const alarms = await wakeful.setMany(items)
      const arrived = await sink.received(1_000)
      const { secret } = await wakeful.webhooks.secret()
      const bodies = arrived.map((each) => verified(secret, each) as { alarm_id: string; payload: object })
      expect(new Set(bodies.map(({ alarm_id }) => alarm_id))).toEqual(new Set(alarms.map(({ id }) => id)))
      expect(bodies[7]!.payload).toMatchObject(payload)
      expect(flips(secret, arrived[0]!)).toEqual([])
      const other = await wakeful.forTenant('other').webhooks.secret()
      expect(() => verified(other.secret, arrived[0]!)).toThrow()
    })
  })

  /** The bits whose flip the library does not notice. */
  function flips(secret: string, { body, headers }: Arrived): string[] {
    const webhook = new Webhook(secret)
    const parts = {
      body,
      id: headers['webhook-id'],
      timestamp: headers['webhook-timestamp'],
      signature: headers['webhook-signature'],
    }
    const unnoticed: string[] = []
    for (const [name, text] of Object.entries(parts) as [keyof typeof parts, string][]) {
      const bytes = Buffer.from(text)
      for (let bit = 0; bit < bytes.length * 8; bit++) {
        const flipped = Buffer.from(bytes)
        flipped[bit >> 3]! ^= 1 << (bit & 7)
        const sent = { ...parts, [name]: name === 'body' ? flipped : flipped.toString('latin1') }
        const signed = {
          'webhook-id': sent.id,
          'webhook-timestamp': sent.timestamp,
          'webhook-signature': sent.signature,
        }
        try {
          webhook.verify(sent.body, signed as Record<string, string>)
          unnoticed.push(`${name} ${bit}`)
        } catch {
          // Rejected as expected.
        }
      }
    }
    return unnoticed
  }

  test('a rotation breaks nothing: for a day both secrets verify everything', async () => {
    await opened(async (wakeful) => {
      const sink = await openSink()
      const target = { webhook: sink.url }
      const { secret: first } = await wakeful.webhooks.secret()
      const send = (message: string) =>
        wakeful.setMany(
          Array.from({ length: 150 }, (_, index) => {
            return { when: new Date(Date.now() + 3 * index), target, message }
          }),
        )
      await send('before')
      await sink.received(50)
      const rotated = await wakeful.webhooks.rotateSecret()
      await send('after')
      const arrived = await sink.received(300)
      expect(rotated).toMatchObject({ former: first })
      expect(rotated.secret).not.toBe(first)
      for (const each of arrived) verified(first, each)
      // One that was sent during the rotation may have either.
      const after = arrived.filter(({ body }) => JSON.parse(body).wake_message === 'after')
      expect(after).toHaveLength(150)
      for (const each of after) verified(rotated.secret, each)
    })
  })
})

describe('a webhook that fails', () => {
  test('is attempted again under the same id, with a new timestamp', async () => {
    await opened(async (wakeful) => {
      const sink = await openSink((_, index) => ({ status: index < 2 ? 503 : 200 }))
      const { id } = await wakeful.set({ delay: '1s' }, { target: { webhook: sink.url }, message: 'up' })
      await settled(wakeful, id, 'fired')
      const bodies = sink.arrived.map(
        ({ body }) => JSON.parse(body) as { attempt: number; occurrence_id: string },
      )
      expect(bodies.map(({ attempt }) => attempt)).toEqual([1, 2, 3])
      const ids = new Set(sink.arrived.map(({ headers }) => headers['webhook-id']))
      expect([...ids]).toEqual([bodies[0]!.occurrence_id])
      const { secret } = await wakeful.webhooks.secret()
      for (const each of sink.arrived) verified(secret, each)
    })
  })

  test('waits as long as Retry-After says', async () => {
    await opened(async (wakeful) => {
      const sink = await openSink((_, index) =>
        index === 0 ? { status: 429, headers: { 'Retry-After': '1' } } : {},
      )
      const { id } = await wakeful.set({ delay: '0s' }, { target: { webhook: sink.url } })
      await sink.received(1)
      const from = performance.now()
      await settled(wakeful, id, 'fired')
      expect(performance.now() - from).toBeGreaterThan(900)
    })
  })

  test.each([301, 400, 404])('with %i fails at once', async (status) => {
    await opened(async (wakeful) => {
      const sink = await openSink(() => ({ status, headers: { Location: 'http://127.0.0.1:9/' } }))
      const { id } = await wakeful.set({ delay: '0s' }, { target: { webhook: sink.url } })
      const { attempts, lastError } = await settled(wakeful, id, 'failed')
      expect([attempts, lastError]).toEqual([1, expect.stringContaining(`HTTP ${status}`)])
    })
  })

  test('with 410 cancels its alarm, a recurring one too', async () => {
    await opened(async (wakeful) => {
      const sink = await openSink(() => ({ status: 410 }))
      const target = { webhook: sink.url }
      const once = await wakeful.set({ delay: '0s' }, { target })
      const hourly = await wakeful.set({ every: '1h' }, { target })
      await wakeful.fireNow(hourly.id)
      for (const { id } of [once, hourly]) {
        expect((await settled(wakeful, id, 'cancelled')).lastError).toContain('HTTP 410')
        expect((await typesOf(wakeful, id)).slice(-2)).toEqual(['alarm.failed', 'alarm.cancelled'])
      }
      expect(sink.arrived).toHaveLength(2)
    })
  })

  test('without an answer in time is attempted again', async () => {
    await opened(async (wakeful) => {
      const sink = await openSink((_, index) => (index === 0 ? { after: new Promise(() => {}) } : {}))
      const { id } = await wakeful.set({ delay: '0s' }, { target: { webhook: sink.url }, timeout: '200ms' })
      expect((await settled(wakeful, id, 'fired')).attempts).toBe(2)
    })
  })

  test('in a killed process is delivered again by another, under the same id', async () => {
    const path = newPath()
    const sink = await openSink((_, index) => (index === 0 ? { after: new Promise(() => {}) } : {}))
    const options = { allowPrivateTargets: true }
    const owner = await enterRunning(path, options)
    const other = await enterRunning(path, options)
    await owner.set(0, { target: { webhook: sink.url }, message: 'in flight' })
    await sink.received(1)
    await owner.kill()
    const [first, second] = await sink.received(2)
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id'])
    expect(JSON.parse(second!.body)).toMatchObject({ attempt: 2 })
    await other.call('close')
  })
})

describe('a report in the answer', () => {
  test('completes the alarm, or fails the attempt', async () => {
    await opened(async (wakeful) => {
      const sink = await openSink((_, index) => ({
        body: JSON.stringify(index === 0 ? { fail: 'not yet' } : { complete: 'all done' }),
      }))
      const { id } = await wakeful.set({ delay: '0s' }, { target: { webhook: sink.url }, ack: 'report' })
      expect(await settled(wakeful, id, 'completed')).toMatchObject({ result: 'all done', attempts: 2 })
      expect(await typesOf(wakeful, id)).toEqual(['alarm.attempt_failed', 'alarm.fired', 'alarm.completed'])
    })
  })
})

describe('an endpoint', () => {
  test('that is down is called rarely, and uses up no attempts', async () => {
    await opened(
      async (wakeful) => {
        const dead = await openSink(() => ({ status: 500 }))
        const target = { webhook: dead.url }
        const items = Array.from({ length: 40 }, () => ({ when: new Date(), target, maxFailures: 6 }))
        await wakeful.setMany(items)
        await new Promise((resolve) => setTimeout(resolve, 1_500))
        // Ten at a time were in flight when the circuit opened; since then there was an occasional probe.
        expect(dead.arrived.length).toBeLessThan(30)
        expect(await wakeful.stats()).toMatchObject({ pending: 40, failed: 0 })
        const { items: waiting } = await wakeful.list({ status: 'active', limit: 40 })
        // One of them may be the current probe, which `why` describes as being delivered.
        const untried = waiting.filter(({ attempts }) => attempts === 0)
        const next = await Promise.all(untried.map(async ({ id }) => (await wakeful.why(id)).next))
        expect(next.join('\n')).toContain('waits, uncounted, until its webhook can be reached')
      },
      { webhooks: { circuit: { open: '200ms', openMax: '300ms' } } },
    )
  })

  test('is called again when it is back', async () => {
    let isDead = true
    await opened(
      async (wakeful) => {
        const sink = await openSink(() => ({ status: isDead ? 500 : 200 }))
        const items = Array.from({ length: 40 }, () => ({ when: new Date(), target: { webhook: sink.url } }))
        await wakeful.setMany(items)
        await sink.received(10)
        await new Promise((resolve) => setTimeout(resolve, 300))
        isDead = false
        while ((await wakeful.stats()).completed < 40) await new Promise((resolve) => setTimeout(resolve, 20))
        expect(await wakeful.stats()).toMatchObject({ completed: 40, failed: 0 })
      },
      { webhooks: { circuit: { open: '200ms' } } },
    )
  })

  test('that hangs delays no other', async () => {
    await opened(
      async (wakeful) => {
        const hanging = await openSink(() => ({ after: new Promise(() => {}) }))
        const lively = await openSink()
        const times = (count: number, webhook: string) =>
          Array.from({ length: count }, () => ({ when: new Date(), target: { webhook }, timeout: '5m' }))
        await wakeful.setMany(times(500, hanging.url))
        await hanging.received(10)
        await wakeful.setMany(times(50, lively.url))
        await lively.received(50)
        expect(hanging.arrived.length).toBe(10)
      },
      { drain: '10ms' },
    )
  })
})

describe('secrets', () => {
  test('are nowhere in the store and in no error', async () => {
    const master = 'the-master-secret-of-this-installation'
    await opened(
      async (wakeful, path) => {
        const sink = await openSink(() => ({ status: 400, body: 'hunter2' }))
        const headers = { Authorization: 'Bearer hunter2', 'X-Header': 'hunter3' }
        const target = { webhook: sink.url, headers }
        const { id } = await wakeful.set({ delay: '0s' }, { target, onFailure: target })
        const { lastError } = await settled(wakeful, id, 'failed')
        const { secret } = await wakeful.webhooks.secret()
        await wakeful.webhooks.rotateSecret()
        expect(sink.arrived[0]!.headers).toMatchObject({
          authorization: 'Bearer hunter2',
          'x-header': 'hunter3',
        })
        const files = readdirSync(dirname(path)).filter((name) => !name.endsWith('.secret'))
        const stored = files.map((name) => readFileSync(join(dirname(path), name), 'latin1')).join('')
        const returned = JSON.stringify([
          await wakeful.get(id),
          await wakeful.wire(id),
          await wakeful.why(id),
          lastError,
        ])
        const events = JSON.stringify(await Array.fromAsync(wakeful.events()))
        for (const hidden of ['hunter2', 'hunter3', 'whsec_', secret.slice(6), master]) {
          expect([stored, returned, events].filter((text) => text.includes(hidden))).toEqual([])
        }
        expect(existsSync(`${path}.secret`)).toBe(false)
      },
      { secret: master },
    )
  })

  test('without webhooks there is no secret file; with them there is one beside the store, readable by its owner only', async () => {
    await opened(async (wakeful, path) => {
      await wakeful.set({ delay: '1h' }, { target: { event: true } })
      expect(existsSync(`${path}.secret`)).toBe(false)
      const { secret } = await wakeful.webhooks.secret()
      expect(existsSync(`${path}.secret`)).toBe(true)
      const again = await open(path, { allowPrivateTargets: true })
      expect((await again.webhooks.secret()).secret).toBe(secret)
      await again.close()
      const other = await open(path, { secret: 'x'.repeat(40) })
      await expect(other.webhooks.secret()).rejects.toThrow(/another secret/)
      await other.close()
    })
  })

  test('are the same for every process of a database, by WAKEFUL_SECRET or its option', async () => {
    const url = `${inject('postgres')}postgres?schema=webhook_secrets`
    const secret = 'x'.repeat(40)
    const first = await open(url, { secret })
    const before = (await first.webhooks.secret()).secret
    const { secret: rotated } = await first.webhooks.rotateSecret()
    await first.close()
    const second = await open(url, { secret })
    expect(await second.webhooks.secret()).toMatchObject({ secret: rotated, former: before })
    await second.close()
    const other = await open(url, { secret: 'y'.repeat(40) })
    await expect(other.webhooks.secret()).rejects.toThrow(/another secret/)
    await other.close()
  })
})

test('private addresses are refused when they are set, unless the operator allows them', async () => {
  const wakeful = await open('sqlite::memory:')
  const set = wakeful.set({ delay: '1h' }, { target: { webhook: 'http://127.0.0.1:1/' } })
  await expect(set).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining('WAKEFUL_ALLOW_PRIVATE_TARGETS=1'),
  })
  await wakeful.close()
})

test('a trace goes from set to wake', async () => {
  await opened(async (wakeful) => {
    const sink = await openSink()
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    await wakeful.set({ delay: '0s' }, { target: { webhook: sink.url }, traceparent })
    expect((await sink.received(1))[0]!.headers.traceparent).toBe(traceparent)
  })
})
