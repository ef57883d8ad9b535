import type { Choose, Decision } from './schedule.ts'

/** The names of the connections chosen, in order. */
export type Schedule = readonly string[]

/** A schedule to try: its prefix, and the number of preemptions in it. */
interface Branch {
  readonly prefix: Schedule
  readonly preemptions: number
}

/** Runs a schedule and returns its decisions, and whether to stop. */
export type Try = (
  choose: Choose,
) => Promise<{ readonly decisions: readonly Decision[]; readonly stop: boolean }>

/** The limits of an exploration. */
export interface Bounds {
  /** The number of switches away from a connection that could have continued. */
  readonly preemptionsMax: number
  readonly schedulesMax: number
  /** Shuffles schedules with equally many preemptions, so that a bounded exploration covers all parts. */
  readonly seed: number
  readonly endAt?: number
}

/** The result of an exploration. */
export interface Explored {
  readonly schedules: number
  /** Whether every schedule within the bound on preemptions was tried. */
  readonly isWhole: boolean
}

/**
 * Tries every schedule with few preemptions, those with the fewest first. Each run replays its prefix and then
 * continues each connection as long as possible. Every other choice on the way becomes a prefix to try later.
 */
export async function explore(bounds: Bounds, run: Try): Promise<Explored> {
  const random = randomOf(bounds.seed)
  const byPreemptions: Branch[][] = [[{ prefix: [], preemptions: 0 }]]
  let schedules = 0
  for (let depth = 0; depth <= bounds.preemptionsMax; depth++) {
    const branches = byPreemptions[depth] ?? []
    while (branches.length > 0) {
      const isLate = bounds.endAt !== undefined && performance.now() > bounds.endAt
      if (schedules >= bounds.schedulesMax || isLate) return { schedules, isWhole: false }
      const [branch] = branches.splice(Math.floor(random() * branches.length), 1)
      const { decisions, stop } = await run(follow(branch!.prefix))
      schedules += 1
      if (stop) return { schedules, isWhole: false }
      for (const next of branchesOf(branch!, decisions)) {
        if (next.preemptions > bounds.preemptionsMax) continue
        byPreemptions[next.preemptions] ??= []
        byPreemptions[next.preemptions]!.push(next)
      }
    }
  }
  return { schedules, isWhole: true }
}

/** Tries random schedules, in which any connection may go at any time. */
export async function sample(seed: number, schedulesMax: number, endAt: number, run: Try): Promise<Explored> {
  let schedules = 0
  while (schedules < schedulesMax && performance.now() < endAt) {
    const random = randomOf(seed + schedules)
    // Some schedules switch rarely, some at every step.
    const restlessness = random()
    const { stop } = await run((enabled, current) => {
      if (current !== null && random() > restlessness) return current
      return enabled[Math.floor(random() * enabled.length)]!
    })
    schedules += 1
    if (stop) break
  }
  return { schedules, isWhole: false }
}

/** Replays a prefix, then continues the current connection. A chosen connection that cannot go is skipped. */
export function follow(schedule: Schedule): Choose {
  let position = 0
  return (enabled, current) => {
    const wanted = schedule[position++]
    if (wanted !== undefined && enabled.includes(wanted)) return wanted
    return current ?? enabled[0]!
  }
}

/** The shortest schedule that leads to the same decisions. */
export function scheduleOf(decisions: readonly Decision[]): Schedule {
  const chosen = decisions.map((decision) => decision.chosen)
  let needed = chosen.length
  while (needed > 0) {
    const { enabled, current, chosen: last } = decisions[needed - 1]!
    if (last !== (current ?? enabled[0])) break
    needed -= 1
  }
  return chosen.slice(0, needed)
}

function branchesOf({ prefix, preemptions }: Branch, decisions: readonly Decision[]): Branch[] {
  const chosen = decisions.map((decision) => decision.chosen)
  return decisions.slice(prefix.length).flatMap(({ enabled, current, chosen: claimed }, index) => {
    const before = chosen.slice(0, prefix.length + index)
    return enabled
      .filter((name) => name !== claimed)
      .map((name) => {
        const cost = current !== null && name !== current ? 1 : 0
        return { prefix: [...before, name], preemptions: preemptions + cost }
      })
  })
}

/** A small random generator (mulberry32): the same seed gives the same schedules. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
