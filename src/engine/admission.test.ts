import { describe, expect, test } from 'vitest'
import type { Claimed } from '../stores/index.ts'
import { VirtualClock } from '../testing/index.ts'
import { Admission, type DeliveryLimits, type Load } from './admission.ts'
import { Deferrals } from './deferrals.ts'

const CONCURRENCY = 10
const BATCH_MAX = 1_000
const ANN = { tenant: 'acme', owner: 'ann' }
const BOB = { tenant: 'acme', owner: 'bob' }

/** No delivery is running, and so far each has ended at once. */
const IDLE: Load = { active: 0, queued: 0, averageMs: 0, oldestMs: 0 }

function admission(options: { limits?: DeliveryLimits; load?: Load; clock?: VirtualClock } = {}): Admission {
  const { limits, load = IDLE, clock = new VirtualClock() } = options
  const deferrals = new Deferrals()
  return new Admission({
    concurrency: CONCURRENCY,
    batchMax: BATCH_MAX,
    limits,
    clock,
    deferrals,
    load: () => load,
  })
}

function batch(more: boolean, tenants: readonly string[], nextWakeAt: number | null = null): Claimed {
  const timers = tenants.map((tenant) => ({ alarm: { tenant } }))
  return { timers, more, lost: [], nextWakeAt } as unknown as Claimed
}

describe('the size of a claim', () => {
  test('is what can be delivered within 50 ms, and at least one per slot', () => {
    expect(admission().free).toBe(BATCH_MAX)
    expect(admission({ load: { ...IDLE, averageMs: null } }).free).toBe(CONCURRENCY)
    expect(admission({ load: { ...IDLE, averageMs: 25 } }).free).toBe(2 * CONCURRENCY)
    expect(admission({ load: { ...IDLE, averageMs: 5_000 } }).free).toBe(CONCURRENCY)
  })

  test('falls when the oldest delivery hangs, and leaves out what is in flight', () => {
    const load = { active: 4, queued: 3, averageMs: 1, oldestMs: 1_000 }
    expect(admission({ load }).free).toBe(CONCURRENCY - 7)
    expect(admission({ load: { ...load, queued: 20 } }).claimForAll()).toBeNull()
  })
})

describe('a crowding tenant', () => {
  test('is one that fills batch after batch, also where its deliveries end at once', () => {
    const fair = admission()
    const claim = () => fair.claimForAll()!
    fair.claimed(claim(), batch(true, ['hog', 'hog', 'other']))
    expect(fair.claimForOthers()?.skips.skipTenants).toEqual(new Set(['hog']))
    // With nothing left behind the batch, no tenant waits for another.
    fair.claimed(claim(), batch(false, ['hog', 'hog', 'other']))
    expect(fair.isSharing).toBe(false)
    // Many tenants that are all late do not crowd each other out.
    fair.claimed(claim(), batch(true, ['a', 'b', 'c', 'd']))
    expect(fair.isSharing).toBe(false)
  })

  test('is one that has more than half of the slots while none is free; a quarter more is for the others', () => {
    const load = { ...IDLE, active: 9 }
    const fair = admission({ load })
    for (let i = 0; i < 6; i++) fair.enter({ tenant: 'hog', owner: '' })
    expect(fair.claimForOthers()).toBeNull()
    load.active = 10
    expect(fair.claimForOthers()).toMatchObject({ limit: 2, skips: { skipTenants: new Set(['hog']) } })
    fair.leave({ tenant: 'hog', owner: '' })
    expect(fair.claimForOthers()).toBeNull()
  })

  test('has short batches while others come due', () => {
    const clock = new VirtualClock()
    const fair = admission({ clock })
    fair.claimed(fair.claimForAll()!, batch(true, ['hog']))
    expect(fair.free).toBe(BATCH_MAX)
    fair.claimed(fair.claimForOthers()!, batch(false, [], clock.now() + 100))
    expect(fair.free).toBe(CONCURRENCY)
    expect(fair.othersWakeAt).toBe(clock.now() + 100)
    fair.hint()
    fair.claimed(fair.claimForOthers()!, batch(false, [], clock.now() + 3_600_000))
    expect(fair.free).toBe(BATCH_MAX)
  })
})

describe('what a claim may bring', () => {
  const limits = { deliveriesOf: () => ({ tenant: 3, owner: 2 }) }

  test('is what is left of both limits; the same occurrence gets the same answer', () => {
    const plan = (() => {
      const limited = admission({ limits })
      limited.enter(ANN)
      return limited.claimForAll()!
    })()
    expect(plan.admits(ANN, '1')).toBe(true)
    expect(plan.admits(ANN, '1')).toBe(true)
    expect(plan.hasLeftDue).toBe(false)
    expect(plan.admits(ANN, '2')).toBe(false)
    expect(plan.admits(BOB, '3')).toBe(true)
    expect(plan.admits(BOB, '4')).toBe(false)
    expect(plan.hasLeftDue).toBe(true)
  })

  test('skips owners and tenants at their limits', () => {
    const limited = admission({ limits })
    const skips = () => limited.claimForAll()!.skips
    limited.enter(ANN)
    expect(skips()).toEqual({})
    limited.enter(ANN)
    expect(skips()).toEqual({ skipTenants: new Set(), skipOwners: new Set(['acme\0ann']) })
    limited.enter(BOB)
    expect(skips()).toEqual({ skipTenants: new Set(['acme']), skipOwners: new Set() })
    for (const scope of [ANN, ANN, BOB]) limited.leave(scope)
    expect(skips()).toEqual({})
  })

  test('is little while most of what is due is passed over', () => {
    const limited = admission({ limits })
    const plan = limited.claimForAll()!
    for (const occurrence of ['1', '2', '3']) plan.admits(ANN, occurrence)
    limited.claimed(plan, batch(true, ['acme', 'acme']))
    expect(limited.claimForAll()!.limit).toBe(32)
    limited.claimed(limited.claimForAll()!, batch(false, []))
    expect(limited.claimForAll()!.limit).toBe(BATCH_MAX)
  })
})
