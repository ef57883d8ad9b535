import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { targetKey } from '../alarm/index.ts'
import type { WaitingFilter } from '../stores/index.ts'
import { openTest, type TestOptions, VirtualClock } from '../testing/index.ts'
import { CatchUpLimiter, type PausedParty, type PauseState, type Resumed } from './catch-up-limiter.ts'

const dir = mkdtempSync(join(tmpdir(), 'wakeful-catch-up-'))
afterAll(() => rmSync(dir, { recursive: true }))

/** Pauses that a test makes. */
class TestPauses implements PauseState {
  readonly #tenants = new Set<string>()
  readonly #targets = new Set<string>()
  readonly #listeners = new Set<() => void>()
  #resumed: Resumed[] = []
  #resumes = 0

  pausedTenants = () => this.#tenants
  pausedTargets = () => this.#targets
  resumed = () => this.#resumed

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  pause(party: PausedParty): void {
    if ('tenant' in party) this.#tenants.add(party.tenant)
    else this.#targets.add(targetKey(party.target))
    this.#notify()
  }

  resume(party: PausedParty, perSecond: number | null): void {
    if ('tenant' in party) this.#tenants.delete(party.tenant)
    else this.#targets.delete(targetKey(party.target))
    this.#resumes += 1
    this.#resumed = [{ party, at: this.#resumes, perSecond }]
    this.#notify()
  }

  #notify(): void {
    for (const listener of this.#listeners) listener()
  }
}

const ACME: PausedParty = { tenant: 'acme' }

async function running(options: TestOptions = {}, pauses = new TestPauses()) {
  const bench = await openTest({ pauses: pauses, ...options })
  const fired: string[] = []
  for (const name of ['remind', 'other'])
    bench.wakeful.handle(name, (fire) => void fired.push(fire.message || fire.alarm.tenant))
  await bench.wakeful.start()
  const acme = bench.wakeful.forTenant('acme', 'ann')
  /** So many of the tenant's that come due in one second. */
  const due = (count: number, target = 'remind') =>
    acme.setMany(
      Array.from({ length: count }, (_, i) => ({ when: { delay: '1s' }, target, message: `m${i}` })),
    )
  return { ...bench, pauses, fired, acme, due, [Symbol.asyncDispose]: bench.close }
}

describe('a paused tenant', () => {
  test('fires nothing, loses nothing and says why, while others fire', async () => {
    await using world = await running()
    const { wakeful, clock, pauses, acme, fired } = world
    pauses.pause(ACME)
    const { id } = await acme.set({ delay: '1s' }, { target: 'remind' })
    await wakeful.forTenant('zeta').set({ delay: '1s' }, { target: 'remind' })
    await clock.advance('1h')
    expect(fired).toEqual(['zeta'])
    const { next } = await acme.why(id)
    expect(next).toContain('paused: an operator has paused this tenant')
    expect(await acme.get(id)).toMatchObject({ status: 'active', failureCount: 0, attempts: 0 })
    expect((await acme.get(id))!.nextFireAt).toEqual(new Date('2030-01-01T00:00:01Z'))
    pauses.resume(ACME, null)
    await clock.advance('1s')
    expect(fired).toEqual(['zeta', 'acme'])
  })

  test('pauses events to the log, too, and a fire by hand', async () => {
    await using world = await running()
    const { clock, pauses, acme, fired } = world
    pauses.pause(ACME)
    const event = await acme.set({ delay: '1s' }, { target: { event: true } })
    const far = await acme.set({ delay: '30d' }, { target: 'remind' })
    await acme.fireNow(far.id)
    await clock.advance('1m')
    expect(fired).toEqual([])
    expect(await acme.get(event.id)).toMatchObject({ status: 'active' })
    pauses.resume(ACME, null)
    await clock.advance('1s')
    expect(fired).toEqual(['acme'])
    expect(await acme.get(event.id)).toMatchObject({ status: 'fired' })
  })

  test('may cancel and reschedule what is paused', async () => {
    await using world = await running()
    const { clock, pauses, acme, fired, due } = world
    pauses.pause(ACME)
    const [gone, moved] = await due(2)
    await clock.advance('10s')
    expect((await acme.cancel(gone!.id)).outcome).toBe('cancelled')
    await acme.reschedule(moved!.id, { delay: '1m' })
    pauses.resume(ACME, null)
    await clock.advance('59s')
    expect(fired).toEqual([])
    await clock.advance('1s')
    expect(fired).toEqual(['m1'])
  })

  test('finishes what is in flight, and has its misfires judged as after a standstill', async () => {
    await using world = await running()
    const { wakeful, clock, pauses, acme, fired } = world
    wakeful.handle('slow', async () => {
      await new Promise<void>((resolve) => void clock.setTimer(5_000, resolve))
      fired.push('slow')
    })
    await acme.set({ delay: '1s' }, { target: 'slow' })
    const hourly = await acme.set({ every: '1h' }, { target: 'remind' })
    await clock.advance('2s')
    pauses.pause(ACME)
    await clock.advance('10h')
    expect(fired).toEqual(['slow'])
    pauses.resume(ACME, null)
    await clock.advance('1s')
    expect(fired).toEqual(['slow', 'acme'])
    const types = (await acme.why(hourly.id)).story.map(({ text }) => text)
    expect(types.some((text) => text.includes('9 occurrences skipped (misfire)'))).toBe(true)
  })
})

describe('a paused target', () => {
  test('is paused for all owners, and no other target', async () => {
    await using world = await running()
    const { wakeful, clock, pauses, fired, due } = world
    const party = { target: { kind: 'handler', name: 'remind' } }
    pauses.pause(party)
    await due(2)
    await due(1, 'other')
    await wakeful.forTenant('zeta').set({ delay: '1s' }, { target: 'remind' })
    await clock.advance('1m')
    expect(fired).toEqual(['m0'])
    pauses.resume(party, null)
    await clock.advance('1s')
    expect(fired.toSorted()).toEqual(['m0', 'm0', 'm1', 'zeta'])
  })
})

describe('a catch-up', () => {
  test('comes back at its pace, while what comes due fires at once', async () => {
    await using world = await running()
    const { clock, pauses, acme, fired, due } = world
    pauses.pause(ACME)
    await due(50)
    await clock.advance('10s')
    pauses.resume(ACME, 10)
    await clock.advance('1s')
    expect(fired.length).toBeGreaterThanOrEqual(8)
    expect(fired.length).toBeLessThanOrEqual(10)
    await acme.set({ delay: '100ms' }, { target: 'remind', message: 'new' })
    await clock.advance('100ms')
    expect(fired).toContain('new')
    await clock.advance('2s')
    expect(fired.length).toBeGreaterThanOrEqual(28)
    expect(fired.length).toBeLessThanOrEqual(33)
    await clock.advance('3s')
    expect(fired).toHaveLength(51)
    expect(new Set(fired).size).toBe(51)
  })

  test('goes on slower than one a second, where it is told so', async () => {
    await using world = await running()
    const { clock, pauses, fired, due } = world
    pauses.pause(ACME)
    await due(3)
    await clock.advance('10s')
    pauses.resume(ACME, 0.1)
    await clock.advance('11s')
    expect(fired).toHaveLength(1)
    await clock.advance('20s')
    expect(fired).toHaveLength(3)
  })

  test('ends with another pause, and what was not requeued by then stays paused', async () => {
    await using world = await running()
    const { clock, pauses, fired, due } = world
    pauses.pause(ACME)
    await due(50)
    await clock.advance('10s')
    pauses.resume(ACME, 10)
    await clock.advance('2s')
    pauses.pause(ACME)
    const before = fired.length
    await clock.advance('1d')
    expect(fired).toHaveLength(before)
    pauses.resume(ACME, null)
    await clock.advance('1s')
    expect(fired).toHaveLength(50)
  })

  test('goes on in the process that comes after a crash', async () => {
    const store = `sqlite:${join(dir, 'crash.db')}`
    const first = await running({ store })
    const { clock, pauses } = first
    pauses.pause(ACME)
    await first.due(30)
    await clock.advance('10s')
    pauses.resume(ACME, 10)
    await clock.advance('1s')
    first.crash()
    await using second = await running({ store, clock }, pauses)
    await clock.advance('10s')
    expect(new Set([...first.fired, ...second.fired]).size).toBe(30)
    expect(second.fired.length).toBeGreaterThanOrEqual(20)
  })
})

describe('a catch-up limiter', () => {
  function limited(
    answers: (which: WaitingFilter, limit: number) => number,
    part = 1,
    names: readonly string[] = [],
  ) {
    const clock = new VirtualClock()
    const pauses = new TestPauses()
    const asked: number[] = []
    const errors: unknown[] = []
    const limiter = new CatchUpLimiter({
      pauses,
      clock,
      requeue: async (which, limit) => {
        asked.push(limit)
        return answers(which, limit)
      },
      pausedTargets: async () => names,
      share: async () => part,
      onError: (thrown) => errors.push(thrown),
    })
    limiter.start()
    return { limiter, clock, pauses, asked, errors }
  }

  test('requeues its share of the rate, and stops when nothing is left', async () => {
    let left = 30
    const { clock, pauses, asked } = limited((_, limit) => {
      const released = Math.min(left, limit)
      left -= released
      return released
    }, 0.25)
    pauses.resume(ACME, 40)
    await clock.advance('1s')
    expect(asked).toEqual([2, 2, 2, 2, 2])
    await clock.advance('1h')
    expect(left).toBe(0)
    expect(asked.length).toBeLessThan(40)
    await expect(clock.until(new Promise(() => {}), '1h')).rejects.toThrow('nothing is left to wait for')
  })

  test('requeues every spelling of an address, within one rate', async () => {
    const left = new Map([
      ['https://a.example/', 2],
      ['https://a.example', 7],
      ['HTTPS://A.example:443/', 3],
      ['https://a.example/b', 5],
    ])
    const { clock, pauses, asked } = limited(
      (which, limit) => {
        const { pausedTarget: name } = which as { pausedTarget: string }
        const released = Math.min(left.get(name)!, limit)
        left.set(name, left.get(name)! - released)
        return released
      },
      1,
      [...left.keys()],
    )
    pauses.resume({ target: { kind: 'webhook', name: 'https://a.example/' } }, 20)
    await clock.advance('1h')
    expect([...left.values()]).toEqual([0, 0, 0, 5])
    expect(Math.max(...asked)).toBe(4)
  })

  test('does nothing without shards, and restarts with the first shard', async () => {
    const { limiter, clock, pauses, asked } = limited(() => 0, 0)
    pauses.resume(ACME, 10)
    await clock.advance('1h')
    expect(asked).toEqual([])
    limiter.restart()
    await clock.advance('1h')
    expect(asked).toEqual([])
  })

  test('retries after an error, and does nothing once it is stopped', async () => {
    let calls = 0
    const { limiter, clock, pauses, errors } = limited(() => {
      calls += 1
      if (calls < 3) throw new Error('not now')
      return 1
    })
    pauses.resume(ACME, 5)
    await clock.advance('1s')
    expect([calls, errors.length]).toEqual([5, 2])
    limiter.stop()
    await clock.advance('1m')
    expect(calls).toBe(5)
  })
})
