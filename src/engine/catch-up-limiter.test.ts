import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { targetKey } from '../alarm/index.ts'
import type { WaitingFilter } from '../stores/index.ts'
import { openTest, type TestOptions, VirtualClock } from '../testing/index.ts'
import { CatchUpLimiter } from './catch-up-limiter.ts'
import type { PausedParty, PauseState, Resumed } from './pause-state.ts'

const dir = mkdtempSync(join(tmpdir(), 'wakeful-pacer-'))
afterAll(() => rmSync(dir, { recursive: true }))

/** A book that a test writes. */
class Book implements PauseState {
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
    this.#tell()
  }

  resume(party: PausedParty, perSecond: number | null): void {
    if ('tenant' in party) this.#tenants.delete(party.tenant)
    else this.#targets.delete(targetKey(party.target))
    this.#resumes += 1
    this.#resumed = [{ party, at: this.#resumes, perSecond }]
    this.#tell()
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }
}

const ACME: PausedParty = { tenant: 'acme' }

async function running(options: TestOptions = {}, book = new Book()) {
  const bench = await openTest({ holds: book, ...options })
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
  return { ...bench, book, fired, acme, due, [Symbol.asyncDispose]: bench.close }
}

describe('a paused tenant', () => {
  test('fires nothing, loses nothing and says why, while others fire', async () => {
    await using world = await running()
    const { wakeful, clock, book, acme, fired } = world
    book.pause(ACME)
    const { id } = await acme.set({ delay: '1s' }, { target: 'remind' })
    await wakeful.forTenant('zeta').set({ delay: '1s' }, { target: 'remind' })
    await clock.advance('1h')
    expect(fired).toEqual(['zeta'])
    const { next } = await acme.why(id)
    expect(next).toContain('held: an operator has paused this tenant')
    expect(await acme.get(id)).toMatchObject({ status: 'active', failureCount: 0, attempts: 0 })
    expect((await acme.get(id))!.nextFireAt).toEqual(new Date('2030-01-01T00:00:01Z'))
    book.resume(ACME, null)
    await clock.advance('1s')
    expect(fired).toEqual(['zeta', 'acme'])
  })

  test('holds what is written to the log, too, and a fire by hand', async () => {
    await using world = await running()
    const { clock, book, acme, fired } = world
    book.pause(ACME)
    const event = await acme.set({ delay: '1s' }, { target: { event: true } })
    const far = await acme.set({ delay: '30d' }, { target: 'remind' })
    await acme.fireNow(far.id)
    await clock.advance('1m')
    expect(fired).toEqual([])
    expect(await acme.get(event.id)).toMatchObject({ status: 'active' })
    book.resume(ACME, null)
    await clock.advance('1s')
    expect(fired).toEqual(['acme'])
    expect(await acme.get(event.id)).toMatchObject({ status: 'fired' })
  })

  test('may cancel and reschedule what is held', async () => {
    await using world = await running()
    const { clock, book, acme, fired, due } = world
    book.pause(ACME)
    const [gone, moved] = await due(2)
    await clock.advance('10s')
    expect((await acme.cancel(gone!.id)).outcome).toBe('cancelled')
    await acme.reschedule(moved!.id, { delay: '1m' })
    book.resume(ACME, null)
    await clock.advance('59s')
    expect(fired).toEqual([])
    await clock.advance('1s')
    expect(fired).toEqual(['m1'])
  })

  test('finishes what is in flight, and has its misfires judged as after a standstill', async () => {
    await using world = await running()
    const { wakeful, clock, book, acme, fired } = world
    wakeful.handle('slow', async () => {
      await new Promise<void>((resolve) => void clock.setTimer(5_000, resolve))
      fired.push('slow')
    })
    await acme.set({ delay: '1s' }, { target: 'slow' })
    const hourly = await acme.set({ every: '1h' }, { target: 'remind' })
    await clock.advance('2s')
    book.pause(ACME)
    await clock.advance('10h')
    expect(fired).toEqual(['slow'])
    book.resume(ACME, null)
    await clock.advance('1s')
    expect(fired).toEqual(['slow', 'acme'])
    const types = (await acme.why(hourly.id)).story.map(({ text }) => text)
    expect(types.some((text) => text.includes('9 occurrences skipped (misfire)'))).toBe(true)
  })
})

describe('a paused target', () => {
  test('is held whoever’s it is, and no other target', async () => {
    await using world = await running()
    const { wakeful, clock, book, fired, due } = world
    const party = { target: { kind: 'handler', name: 'remind' } }
    book.pause(party)
    await due(2)
    await due(1, 'other')
    await wakeful.forTenant('zeta').set({ delay: '1s' }, { target: 'remind' })
    await clock.advance('1m')
    expect(fired).toEqual(['m0'])
    book.resume(party, null)
    await clock.advance('1s')
    expect(fired.toSorted()).toEqual(['m0', 'm0', 'm1', 'zeta'])
  })
})

describe('a catch-up', () => {
  test('comes back at its pace, while what comes due fires at once', async () => {
    await using world = await running()
    const { clock, book, acme, fired, due } = world
    book.pause(ACME)
    await due(50)
    await clock.advance('10s')
    book.resume(ACME, 10)
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
    const { clock, book, fired, due } = world
    book.pause(ACME)
    await due(3)
    await clock.advance('10s')
    book.resume(ACME, 0.1)
    await clock.advance('11s')
    expect(fired).toHaveLength(1)
    await clock.advance('20s')
    expect(fired).toHaveLength(3)
  })

  test('ends with another pause, and what was not let go by then is held', async () => {
    await using world = await running()
    const { clock, book, fired, due } = world
    book.pause(ACME)
    await due(50)
    await clock.advance('10s')
    book.resume(ACME, 10)
    await clock.advance('2s')
    book.pause(ACME)
    const before = fired.length
    await clock.advance('1d')
    expect(fired).toHaveLength(before)
    book.resume(ACME, null)
    await clock.advance('1s')
    expect(fired).toHaveLength(50)
  })

  test('goes on in the process that comes after a crash', async () => {
    const store = `sqlite:${join(dir, 'crash.db')}`
    const first = await running({ store })
    const { clock, book } = first
    book.pause(ACME)
    await first.due(30)
    await clock.advance('10s')
    book.resume(ACME, 10)
    await clock.advance('1s')
    first.crash()
    await using second = await running({ store, clock }, book)
    await clock.advance('10s')
    expect(new Set([...first.fired, ...second.fired]).size).toBe(30)
    expect(second.fired.length).toBeGreaterThanOrEqual(20)
  })
})

describe('a pacer', () => {
  function paced(
    answers: (which: WaitingFilter, limit: number) => number,
    part = 1,
    names: readonly string[] = [],
  ) {
    const clock = new VirtualClock()
    const book = new Book()
    const asked: number[] = []
    const troubles: unknown[] = []
    const pacer = new CatchUpLimiter({
      book,
      clock,
      release: async (which, limit) => {
        asked.push(limit)
        return answers(which, limit)
      },
      heldTargets: async () => names,
      share: async () => part,
      onTrouble: (thrown) => troubles.push(thrown),
    })
    pacer.start()
    return { pacer, clock, book, asked, troubles }
  }

  test('asks for its share of the pace, and no more when nothing is left', async () => {
    let left = 30
    const { clock, book, asked } = paced((_, limit) => {
      const released = Math.min(left, limit)
      left -= released
      return released
    }, 0.25)
    book.resume(ACME, 40)
    await clock.advance('1s')
    expect(asked).toEqual([2, 2, 2, 2, 2])
    await clock.advance('1h')
    expect(left).toBe(0)
    expect(asked.length).toBeLessThan(40)
    await expect(clock.until(new Promise(() => {}), '1h')).rejects.toThrow('nothing is left to wait for')
  })

  test('puts back what is held under every spelling of an address, within one pace', async () => {
    const left = new Map([
      ['https://a.example/', 2],
      ['https://a.example', 7],
      ['HTTPS://A.example:443/', 3],
      ['https://a.example/b', 5],
    ])
    const { clock, book, asked } = paced(
      (which, limit) => {
        const { heldTarget: name } = which as { heldTarget: string }
        const released = Math.min(left.get(name)!, limit)
        left.set(name, left.get(name)! - released)
        return released
      },
      1,
      [...left.keys()],
    )
    book.resume({ target: { kind: 'webhook', name: 'https://a.example/' } }, 20)
    await clock.advance('1h')
    expect([...left.values()]).toEqual([0, 0, 0, 5])
    expect(Math.max(...asked)).toBe(4)
  })

  test('asks nothing where it owns nothing, and looks again with its first shard', async () => {
    const { pacer, clock, book, asked } = paced(() => 0, 0)
    book.resume(ACME, 10)
    await clock.advance('1h')
    expect(asked).toEqual([])
    pacer.lookAgain()
    await clock.advance('1h')
    expect(asked).toEqual([])
  })

  test('tries again after trouble, and asks nothing more once it is stopped', async () => {
    let calls = 0
    const { pacer, clock, book, troubles } = paced(() => {
      calls += 1
      if (calls < 3) throw new Error('not now')
      return 1
    })
    book.resume(ACME, 5)
    await clock.advance('1s')
    expect([calls, troubles.length]).toEqual([5, 2])
    pacer.stop()
    await clock.advance('1m')
    expect(calls).toBe(5)
  })
})
