import type { SetOptions } from '../../../src/alarm/index.ts'
import type { ClaimedTimer, Lease } from '../../../src/stores/index.ts'
import type { When } from '../../../src/time/index.ts'
import type { Process } from '../process.ts'
import type { World } from '../world.ts'

/** After this a lease has ended. */
export const LEASE_OVER_MS = 6_000

/** Two processes: the owner of the clock, and somebody else. */
export interface Beginning {
  readonly one: Process
  readonly two: Process
  readonly leases: readonly Lease[]
  readonly id: string
}

/** An alarm that is due now, with an owner who has not looked yet. */
export async function due(
  world: World,
  when: When = { delay: '1h' },
  options: SetOptions = {},
): Promise<Beginning> {
  const [one, two] = [await world.process('one'), await world.process('two')]
  const id = await one.bench.alarm(when, options)
  world.clock.step(3_600_000)
  return { one, two, leases: await one.own(), id }
}

/** An alarm that is being delivered. */
export async function flying(
  world: World,
  when: When = { delay: '1h' },
  options: SetOptions = {},
): Promise<Beginning & { readonly takings: readonly ClaimedTimer[] }> {
  const beginning = await due(world, when, options)
  const { timers: takings } = await beginning.one.take(beginning.leases)
  if (takings.length === 0) throw new Error('the scenario begins with something in flight')
  return { ...beginning, takings }
}

/** An alarm that no edit takes for near or soon, with an owner; the clock goes there in the course of the schedule. */
export async function far(
  world: World,
  when: When = { delay: '8s' },
  options: SetOptions = {},
): Promise<Beginning> {
  const [one, two] = [await world.process('one'), await world.process('two')]
  const leases = await one.own()
  return { one, two, leases, id: await one.bench.alarm(when, options) }
}

/** Lets the clock move at a moment of the schedule. */
export async function clockMoves(world: World, by: Process, ms: number): Promise<void> {
  await by.gate.point(`the clock moves ${ms} ms`)
  world.clock.step(ms)
}
