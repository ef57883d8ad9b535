import { describe, expect, it } from 'vitest'
import { WakefulError } from '../../error.ts'
import { openTest, VirtualClock } from '../../testing/index.ts'
import { liveness, type ReadinessOptions, readiness } from './monitoring-routes.ts'

const BOUNDS = { timeoutMs: 2_000, lagMsMax: 60_000, isStopping: () => false }

async function bench(options: { concurrency?: number } = {}) {
  const { wakeful, clock, close } = await openTest(options)
  const look = (more: Partial<ReadinessOptions> = {}) =>
    readiness({ readings: () => wakeful.operator.readings(), clock, ...BOUNDS, ...more })
  return { wakeful, clock, look, [Symbol.asyncDispose]: close }
}

describe('liveness', () => {
  it('does not ask the store', () => {
    expect(liveness()).toMatchObject({ status: 200, body: { status: 'ok' } })
  })
})

describe('readiness', () => {
  it('is ready if the engine runs and nothing is late', async () => {
    await using at = await bench()
    await at.wakeful.start()
    expect(await at.look()).toEqual({
      status: 200,
      body: {
        status: 'ok',
        checks: {
          process: { ok: true, detail: 'running' },
          store: { ok: true, detail: 'answered in 0 ms' },
          secret: { ok: true, detail: 'this process can sign webhooks' },
          shards: { ok: true, detail: '2 run here, 0 in other processes, 0 in none' },
          lag: { ok: true, detail: 'the oldest due alarm is 0 s late; the limit is 60 s' },
        },
      },
    })
  })

  it('is not ready before the engine is started', async () => {
    await using at = await bench()
    expect(await at.look()).toMatchObject({ status: 503, body: { checks: { shards: { ok: false } } } })
  })

  it('is not ready while the engine lags: all slots are busy, and due alarms wait', async () => {
    await using at = await bench({ concurrency: 1 })
    const started = Promise.withResolvers<void>()
    at.wakeful.handle('work', () => started.promise)
    await at.wakeful.start()
    await at.wakeful.set({ delay: '1s' }, { target: 'work' })
    await at.wakeful.set({ delay: '1s' }, { target: 'work' })
    await at.clock.advance('61s')
    expect((await at.look()).status).toBe(200)
    await at.clock.advance('1s')
    const { status, body } = await at.look()
    expect(status).toBe(503)
    expect(body.checks.lag).toEqual({
      ok: false,
      detail: 'the oldest due alarm is 61 s late; the limit is 60 s',
    })
    started.resolve()
    await at.clock.advance('1s')
    expect((await at.look()).status).toBe(200)
  })

  it('is not ready while it stops', async () => {
    await using at = await bench()
    await at.wakeful.start()
    expect(await at.look({ isStopping: () => true })).toMatchObject({
      status: 503,
      body: { status: 'unavailable', checks: { process: { ok: false }, store: { ok: true } } },
    })
  })

  it('is ready as a standby of another process', async () => {
    const pools = [{ pool: 'app', here: 0, elsewhere: 64, nobody: 0, lagMs: 0, withoutHandlerMs: 0 }]
    const readings = {
      takesWrites: true,
      isRunning: true,
      hasSecret: true,
      inFlight: 0,
      queued: 0,
      unsettled: 0,
      backlog: 0,
      inboxWaiting: 0,
      now: 0,
      pools,
    }
    const ports = { readings: () => Promise.resolve(readings), clock: new VirtualClock(), ...BOUNDS }
    expect(await readiness(ports)).toMatchObject({
      status: 200,
      body: { checks: { shards: { detail: '0 run here, 64 in other processes, 0 in none, standing by' } } },
    })
    const unowned = { ...readings, pools: [{ ...pools[0]!, elsewhere: 0, nobody: 64 }] }
    expect((await readiness({ ...ports, readings: () => Promise.resolve(unowned) })).status).toBe(503)
  })

  it('does not wait for a store that hangs', async () => {
    const clock = new VirtualClock()
    const looking = readiness({ readings: () => new Promise(() => {}), clock, ...BOUNDS })
    await clock.advance(2_000)
    expect(await looking).toMatchObject({
      status: 503,
      body: { checks: { store: { ok: false, detail: 'the store did not answer within 2s' } } },
    })
  })

  it('reveals neither the store’s address nor its error', async () => {
    const clock = new VirtualClock()
    const look = async (thrown: unknown) =>
      (await readiness({ readings: () => Promise.reject(thrown), clock, ...BOUNDS })).body.checks.store
        ?.detail
    const url = 'postgres://me:hunter2@db/x'
    expect(
      await look(
        WakefulError.from({
          code: 'store_unavailable',
          reason: 'test',
          params: {},
          message: `no answer of ${url}`,
        }),
      ),
    ).toBe('the store does not answer')
    expect(
      await look(WakefulError.from({ code: 'schema_too_new', reason: 'test', params: {}, message: url })),
    ).toBe('the store was changed by a newer version')
    expect(await look(new TypeError(`inner ${url}`))).toBe('the store does not answer')
  })
})
