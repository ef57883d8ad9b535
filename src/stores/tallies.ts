import type { Scope, Tally } from '../alarm/index.ts'
import type { Stats } from './store.ts'

const COLUMNS = [
  'total',
  'pending',
  'fired',
  'completed',
  'failed',
  'cancelled',
  'timed_out',
  'duration',
  'measured',
] as const

type Sums = Record<(typeof COLUMNS)[number], number>

/** How one owner's tallies change: total, pending, fired, completed, failed, cancelled, timed out, sum of durations, their number. */
export interface TallyRow {
  readonly scope: Scope
  readonly sums: readonly number[]
}

/** The stats of an owner, from the sums in the same order. */
export function statsOf(sums: readonly number[]): Stats {
  const [total = 0, pending = 0, fired = 0, completed = 0, failed = 0, cancelled = 0, timedOut = 0] = sums
  const [, , , , , , , durationMs = 0, measured = 0] = sums
  const avgDurationMs = measured === 0 ? null : Math.round(durationMs / measured)
  return { total, pending, fired, completed, failed, cancelled, timedOut, avgDurationMs }
}

interface Entry {
  readonly scope: Scope
  readonly sums: Sums
}

/** Collects the changes of the tallies in one write, so that it writes one row per owner, however many alarms changed. */
export class Tallies {
  readonly #sums = new Map<string, Entry>()
  #last: Entry | null = null

  created(scope: Scope): void {
    const sums = this.#of(scope)
    sums.total += 1
    sums.pending += 1
  }

  add(scope: Scope, tally: Tally): void {
    const sums = this.#of(scope)
    if (tally.from !== tally.to) {
      if (tally.from !== null) sums[tally.from] -= 1
      if (tally.to !== null) sums[tally.to] += 1
    }
    if (tally.durationMs !== null) {
      sums.duration += tally.durationMs
      sums.measured += 1
    }
  }

  /** Adds the changes of work that could have been rolled back. */
  merge(other: Tallies): void {
    for (const { scope, sums } of other.#sums.values()) {
      const own = this.#of(scope)
      for (const column of COLUMNS) own[column] += sums[column]
    }
  }

  /** Returns the changes, one row per owner in a fixed order, and starts over. */
  drain(): TallyRow[] {
    const rows = [...this.#sums.entries()]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, { scope, sums }]) => ({ scope, sums: COLUMNS.map((column) => sums[column]) }))
    this.#sums.clear()
    this.#last = null
    return rows
  }

  #of(scope: Scope): Sums {
    // Usually the same owner as before.
    const last = this.#last
    if (last !== null && last.scope.tenant === scope.tenant && last.scope.owner === scope.owner)
      return last.sums
    const name = `${scope.tenant}\0${scope.owner}`
    let entry = this.#sums.get(name)
    if (entry === undefined) {
      const sums = Object.fromEntries(COLUMNS.map((column) => [column, 0])) as Sums
      entry = { scope: { tenant: scope.tenant, owner: scope.owner }, sums }
      this.#sums.set(name, entry)
    }
    this.#last = entry
    return entry.sums
  }
}
