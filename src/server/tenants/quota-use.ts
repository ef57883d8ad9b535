import { type AlarmView, RawJson, type SetOptions, type TargetSpec, utf8Length } from '../../alarm/index.ts'
import { WakefulError } from '../../error.ts'
import { type Alarms, ofItem } from '../../library/index.ts'
import { type Clock, parseDuration, type When, Yielder } from '../../time/index.ts'

/** An alarm due this soon after it was set may be part of a loop. */
const SOON_MS = 300_000
/** How many of a rule's next instants are compared to find its shortest period. */
const INSTANTS_COMPARED = 12
const RULES_PER_TURN = 20

/** What a call wants to do: set an alarm, edit one, or fire one now. */
export type QuotaRequest =
  | {
      readonly does: 'set'
      readonly when: When
      readonly options: SetOptions
      /** Which of a batch it is. */
      readonly item?: number
    }
  | { readonly does: 'edit'; readonly id: string; readonly when: When | null; readonly options: SetOptions }
  | { readonly does: 'fire' | 'retry'; readonly id: string }

/** What is known of when it fires; null if the call does not set that. */
async function inspect(rules: RuleInspector, wanted: QuotaRequest): Promise<RuleSummary | null> {
  if (!('when' in wanted) || wanted.when === null) return null
  return rules.inspect(wanted.when, wanted.does === 'edit' ? wanted.id : undefined)
}

/** Whether it fires soon: at once, or at a near first instant. Later instants are bounded by `min_interval`. */
export async function isWake(rules: RuleInspector, wanted: QuotaRequest, now: number): Promise<boolean> {
  if (!('when' in wanted)) return true
  const firstAt = (await inspect(rules, wanted))?.firstAt
  return firstAt !== undefined && firstAt <= now + SOON_MS
}

/** Whether there may be one more active alarm afterwards. A reschedule makes an alarm that awaits its report active. */
export function mayAdd(wanted: QuotaRequest): boolean {
  return 'when' in wanted ? wanted.when !== null : wanted.does === 'retry'
}

/** Whether there will be one more, judging by the alarm as it is. An alarm that does not exist is rejected by the call itself. */
export async function addsOne(alarms: Alarms, wanted: QuotaRequest): Promise<boolean> {
  if (!mayAdd(wanted)) return false
  if (wanted.does !== 'set') return isActive(await alarms.get(wanted.id)) === false
  const { key } = wanted.options
  return typeof key !== 'string' || isActive(await alarms.getByKey(key)) !== true
}

function isActive(alarm: AlarmView | null): boolean | null {
  return alarm && (alarm.status === 'active' || alarm.status === 'paused')
}

/** Throws if an alarm carries more bytes than its quota allows, in whichever field. */
export function assertSizes(wanted: readonly QuotaRequest[], bytesMax: number): void {
  for (const each of wanted)
    if ('options' in each)
      naming(each, () => {
        const bytes = sizeOf(each.options)
        if (bytes > bytesMax) throw new WakefulError('payload.over_quota', { bytes, max: bytesMax })
      })
}

/** Throws if an alarm fires more often than its quota allows. */
export async function assertPeriods(
  rules: RuleInspector,
  wanted: readonly QuotaRequest[],
  minInterval: string,
): Promise<void> {
  const minMs = parseDuration(minInterval)
  for (const each of wanted) {
    const rule = await inspect(rules, each)
    naming(each, () => {
      if (rule === null || rule.shortestMs >= minMs) return
      throw new WakefulError('quota.min_interval', { min: minInterval })
    })
  }
}

/** Adds to an error which item of a batch it is about. */
function naming(wanted: QuotaRequest, judge: () => void): void {
  if ('item' in wanted && wanted.item !== undefined) ofItem(wanted.item, judge)
  else judge()
}

/** What has the wrong type has no size: the call itself refuses it. */
function sizeOf({ payload, message, target, onFailure }: SetOptions): number {
  const messageBytes = typeof message === 'string' ? utf8Length(message) : 0
  return jsonBytes(payload) + messageBytes + targetBytes(target) + targetBytes(onFailure)
}

/** The bytes of a target besides the name of its kind. The name of a handler is short. */
function targetBytes(target: TargetSpec | undefined): number {
  if (typeof target !== 'object' || target === null) return 0
  const values = Object.values(target).filter((value) => value !== true)
  return values.reduce<number>((sum, value) => sum + jsonBytes(value), 0)
}

function jsonBytes(value: unknown): number {
  if (value === undefined) return 0
  return utf8Length(value instanceof RawJson ? value.text : JSON.stringify(value))
}

/** What quotas need to know of a rule. */
interface RuleSummary {
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
