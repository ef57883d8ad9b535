import type { Result } from './result.ts'

const YEAR_MS = 365.25 * 86_400_000

/** The totals of many seeds. */
export class Sum {
  readonly failures: Result[] = []
  #seeds = 0
  #occurrences = 0
  #deliveries = 0
  #virtualMs = 0
  readonly #faults = new Map<string, { count: number; inFlight: number }>()

  add(result: Result): void {
    this.#seeds += 1
    this.#occurrences += result.occurrences
    this.#deliveries += result.deliveries
    this.#virtualMs += result.virtualMs
    if (result.violations.length > 0) this.failures.push(result)
    for (const [fault, { count, inFlight }] of result.faults) {
      const kept = this.#faults.get(fault) ?? { count: 0, inFlight: 0 }
      this.#faults.set(fault, { count: kept.count + count, inFlight: kept.inFlight + inFlight })
    }
  }

  get seeds(): number {
    return this.#seeds
  }

  /** How many faults hit something in flight. Slow statements are not counted, because they complete. */
  get inFlight(): number {
    return [...this.#faults].reduce(
      (sum, [fault, { inFlight }]) => sum + (fault === 'slow' ? 0 : inFlight),
      0,
    )
  }

  /** Faults that were injected and never hit anything. */
  get missed(): string[] {
    return [...this.#faults].filter(([, { inFlight }]) => inFlight === 0).map(([fault]) => fault)
  }

  /** The totals in one line. */
  get line(): string {
    const years = (this.#virtualMs / YEAR_MS).toFixed(1)
    const { length } = this.failures
    return `${this.#seeds} seeds, ${years} virtual years, ${this.#occurrences} occurrences, ${this.#deliveries} deliveries, ${this.inFlight} faults in flight, ${length} failing`
  }

  /** Each fault with how often it was injected and how often it hit something in flight. */
  get table(): string[] {
    const rows = [...this.#faults].sort(([a], [b]) => (a < b ? -1 : 1))
    return rows.map(
      ([fault, { count, inFlight }]) =>
        `  ${fault.padEnd(16)} ${String(count).padStart(9)} ${String(inFlight).padStart(9)} in flight`,
    )
  }
}
