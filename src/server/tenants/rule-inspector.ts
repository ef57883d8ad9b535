import { WakefulError } from '../../error.ts'
import type { Alarms } from '../../library/index.ts'
import { type Clock, type When, Yielder } from '../../time/index.ts'

/** How many of a rule's next instants are compared to find its shortest period. */
const INSTANTS_COMPARED = 12
const RULES_PER_TURN = 20

/** What quotas need to know of a rule. */
export interface RuleSummary {
  /** Its next instant. */
  readonly firstAt: number | undefined
  /** The shortest time between two of its next instants; Infinity if there are fewer than two. */
  readonly shortestMs: number
}

/** Nothing is known of an invalid rule: the call itself rejects it, with its own message. */
const UNKNOWN: RuleSummary = { firstAt: undefined, shortestMs: Number.POSITIVE_INFINITY }

/** Finds out what quotas need to know of rules, once for all alarms of a batch that share one. */
export class RuleInspector {
  readonly #alarms: Alarms
  readonly #yielder: Yielder
  readonly #known = new Map<string, RuleSummary>()

  constructor(alarms: Alarms, clock: Clock) {
    this.#alarms = alarms
    this.#yielder = new Yielder(clock, RULES_PER_TURN)
  }

  /** A when that an alarm is rescheduled to is read in that alarm's zone, as the call itself reads it. */
  async inspect(when: When, rescheduledId?: string): Promise<RuleSummary> {
    const name = JSON.stringify([when, rescheduledId])
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const alarm = rescheduledId === undefined ? null : await this.#alarms.get(rescheduledId)
    const summary = this.#summarize(when, alarm === null ? {} : { timezone: alarm.timezone })
    this.#known.set(name, summary)
    await this.#yielder.afterItem()
    return summary
  }

  #summarize(when: When, zone: { timezone?: string }): RuleSummary {
    try {
      const at = this.#instants(when, INSTANTS_COMPARED, zone)
      const periods = at.slice(1).map((later, i) => later - at[i]!)
      return { firstAt: at[0], shortestMs: Math.min(...periods) }
    } catch (thrown) {
      if (!(thrown instanceof WakefulError) || this.#hasFirst(when, zone)) throw thrown
      return UNKNOWN
    }
  }

  /** The call would accept a rule with a first instant. If the others cannot be found, the error must not be ignored. */
  #hasFirst(when: When, zone: { timezone?: string }): boolean {
    try {
      this.#instants(when, 1, zone)
      return true
    } catch {
      return false
    }
  }

  #instants(when: When, count: number, zone: { timezone?: string }): number[] {
    return this.#alarms.preview(when, { count, ...zone }).instants.map(({ instant }) => Date.parse(instant))
  }
}
