import type { SetOptions } from '../../../src/alarm/index.ts'
import type { ClaimedTimer, Lease } from '../../../src/stores/index.ts'
import type { When } from '../../../src/time/index.ts'
import type { Process } from '../process.ts'
import type { World } from '../world.ts'

/** A lease has ended after this time. */
export const LEASE_OVER_MS = 6_000

/** Two processes: the lease holder and another one. */
export interface Beginning {
  readonly one: Process
  readonly two: Process
  readonly leases: readonly Lease[]
  readonly id: string
}

/** An alarm that is due now, with a lease holder that has not scanned yet. */
export async function due(
  world: World,
  when: When = { delay: '1h' },
  options: SetOptions = {},
): Promise<Beginning> {
  const [one, two] = [await world.process('one'), await world.process('two')]
  const id = await one.bench.alarm(when, options)
  world.clock.step(3_600_000)
  return { one, two, leases: await one.acquire(), id }
}

/** An alarm that is being delivered. */
export async function inFlightAlarm(
  world: World,
  when: When = { delay: '1h' },
  options: SetOptions = {},
): Promise<Beginning & { readonly claimedTimers: readonly ClaimedTimer[] }> {
  const beginning = await due(world, when, options)
  const { timers: claimedTimers } = await beginning.one.claim(beginning.leases)
  if (claimedTimers.length === 0) throw new Error('the scenario begins with something in flight')
  return { ...beginning, claimedTimers }
}

/** An alarm far from its instant, with a lease holder. The clock reaches the instant during the schedule. */
export async function far(
  world: World,
  when: When = { delay: '8s' },
  options: SetOptions = {},
): Promise<Beginning> {
  const [one, two] = [await world.process('one'), await world.process('two')]
  const leases = await one.acquire()
  return { one, two, leases, id: await one.bench.alarm(when, options) }
}

/** Steps the clock at a point of the schedule. */
export async function clockMoves(world: World, by: Process, ms: number): Promise<void> {
  await by.interceptor.point(`the clock moves ${ms} ms`)
  world.clock.step(ms)
}
