import { WakefulError } from '../../error.ts'
import type { Alarms } from '../../library/index.ts'
import { type Clock, type When, Yielder } from '../../time/index.ts'

/** Instants of a rule that are looked at for its shortest period; of one whose instants are rare, fewer are found. */
const PERIODS_LOOKED_AT = 12
const RULES_PER_TURN = 20

/** What is known of a rule. */
export interface RuleSummary {
  /** Its next instant. */
  readonly firstAt: number | undefined
  /** The shortest time between two of its next instants; Infinity where it has no two. */
  readonly shortestMs: number
}

/** Of what cannot be read nothing is known: the call itself refuses it, in its own words and order. */
const UNREADABLE: RuleSummary = { firstAt: undefined, shortestMs: Number.POSITIVE_INFINITY }

/** What has to be known of rules before they are set: each is looked at once, however many alarms share it. */
export class RuleInspector {
  readonly #alarms: Alarms
  readonly #yielder: Yielder
  readonly #known = new Map<string, RuleSummary>()

  constructor(alarms: Alarms, clock: Clock) {
    this.#alarms = alarms
    this.#yielder = new Yielder(clock, RULES_PER_TURN)
  }

  /** What an alarm is moved to is read in that alarm's own zone, as the move itself reads it. */
  async at(when: When, movedId?: string): Promise<RuleSummary> {
    const name = JSON.stringify([when, movedId])
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const moved = movedId === undefined ? null : await this.#alarms.get(movedId)
    const look = this.#look(when, moved === null ? {} : { timezone: moved.timezone })
    this.#known.set(name, look)
    await this.#yielder.afterItem()
    return look
  }

  #look(when: When, zone: { timezone?: string }): RuleSummary {
    try {
      const at = this.#instants(when, PERIODS_LOOKED_AT, zone)
      const periods = at.slice(1).map((later, i) => later - at[i]!)
      return { firstAt: at[0], shortestMs: Math.min(...periods) }
    } catch (thrown) {
      if (!(thrown instanceof WakefulError) || this.#hasFirst(when, zone)) throw thrown
      return UNREADABLE
    }
  }

  /** The call would take what has a first instant: where the others cannot be looked at, it must not come to that. */
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
