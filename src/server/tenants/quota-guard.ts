import { RawJson, type SetOptions, utf8Length } from '../../alarm/index.ts'
import type { Quotas } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import type { Alarms } from '../../library/index.ts'
import { type Clock, parseDuration, type When } from '../../time/index.ts'
import type { Caller } from '../caller.ts'
import { TryLater } from '../http/problem.ts'
import { Buckets } from './bucket.ts'
import { RuleLooks } from './rule-looks.ts'
import type { TenantBook } from './tenant-book.ts'

const HOUR_MS = 3_600_000
/** What is due this soon after it was set is what a loop is made of. */
const SOON_MS = 300_000
/** A count of active alarms is this old at most; what is set here in between is added to it. */
const COUNT_MS = 1_000
const COUNTS_MAX = 10_000
const QUOTA_RETRY_MS = 60_000

/** An alarm that somebody wants to set, or to move (`adds` is then false). */
export interface Wanted {
  readonly when: When | null
  readonly options: SetOptions
  readonly adds: boolean
}

interface Count {
  readonly until: number
  readonly known: Promise<number>
  added: number
}

/**
 * Holds tenants and owners to their quotas; where none is configured it costs one look into a copy. Each process counts
 * rates for itself, and those who set at the same moment may exceed a bound on active alarms by their number.
 */
export class QuotaGuard {
  readonly #book: TenantBook
  readonly #clock: Clock
  readonly #pendingOf: (tenant: string) => Promise<number>
  readonly #buckets: Buckets
  readonly #counts = new Map<string, Count>()

  constructor(book: TenantBook, clock: Clock, pendingOf: (tenant: string) => Promise<number>) {
    this.#book = book
    this.#clock = clock
    this.#pendingOf = pendingOf
    this.#buckets = new Buckets(clock)
  }

  /** Lets these be set, or refuses all of them. */
  async admit(caller: Caller, wanted: readonly Wanted[]): Promise<void> {
    const { tenant, owner } = await this.#book.quotasOf(caller.tenant)
    await this.#hold(tenant, caller, wanted, {
      who: 'your tenant',
      name: JSON.stringify([caller.tenant]),
      count: () => this.#pendingOf(caller.tenant),
    })
    await this.#hold(owner, caller, wanted, {
      who: 'you',
      name: JSON.stringify([caller.tenant, caller.owner]),
      count: async () => (await caller.alarms.stats()).pending,
    })
  }

  async #hold(quotas: Quotas, caller: Caller, wanted: readonly Wanted[], whose: Whose): Promise<void> {
    if (Object.keys(quotas).length === 0) return
    const looks = new RuleLooks(caller.alarms, this.#clock)
    const { payload_bytes, min_interval, sets_per_second, wakes_per_hour, active_alarms } = quotas
    if (payload_bytes !== undefined) assertPayloads(wanted, payload_bytes)
    if (min_interval !== undefined) await assertPeriods(looks, wanted, min_interval)
    if (sets_per_second !== undefined) this.#rate(whose, wanted.length, sets_per_second)
    if (wakes_per_hour !== undefined)
      this.#wakes(whose, await soonDue(looks, wanted, this.#clock.now()), wakes_per_hour)
    if (active_alarms !== undefined) await this.#active(whose, caller, wanted, active_alarms)
  }

  #rate({ who, name }: Whose, count: number, perSecond: number): void {
    const waitMs = this.#buckets.take(`sets ${name}`, count, {
      size: Math.max(1, perSecond),
      perMs: perSecond / 1000,
    })
    if (waitMs > 0)
      throw new TryLater(
        'rate_limited',
        `${who} may set ${perSecond} alarms per second: try again a little later`,
        waitMs,
      )
  }

  #wakes({ who, name }: Whose, count: number, perHour: number): void {
    if (count === 0) return
    const waitMs = this.#buckets.take(`wakes ${name}`, count, { size: perHour, perMs: perHour / HOUR_MS })
    if (waitMs > 0)
      throw new TryLater(
        'quota_exceeded',
        `${who} may set ${perHour} alarms per hour that are due within five minutes: is something waking itself in a loop? Set one that is due later, or a recurring one`,
        waitMs,
      )
  }

  async #active(whose: Whose, caller: Caller, wanted: readonly Wanted[], max: number): Promise<void> {
    const adding = wanted.filter(({ adds }) => adds).length
    if (adding === 0) return
    let count = this.#countOf(whose)
    const isOver = async () => (await count.known) + count.added + adding > max
    if (await isOver()) {
      // What was added here may have ended, or was set again: nobody is refused by an old count.
      this.#counts.delete(whose.name)
      count = this.#countOf(whose)
      if (await isOver()) {
        // At the bound, what is there already may still be set again: it adds nothing.
        const isKnown = await Promise.all(wanted.map(({ options }) => exists(caller.alarms, options)))
        if (isKnown.every(Boolean)) return
        throw new TryLater(
          'quota_exceeded',
          `${whose.who} may have ${max} active alarm${max === 1 ? '' : 's'}: cancel some, or wait until they have fired`,
          QUOTA_RETRY_MS,
        )
      }
    }
    count.added += adding
  }

  #countOf({ name, count }: Whose): Count {
    const now = this.#clock.monotonic()
    const before = this.#counts.get(name)
    if (before !== undefined && now < before.until) return before
    const known = count()
    known.catch(() => this.#counts.delete(name))
    const fresh = { until: now + COUNT_MS, known, added: 0 }
    this.#counts.delete(name)
    this.#counts.set(name, fresh)
    if (this.#counts.size > COUNTS_MAX) this.#counts.delete(this.#counts.keys().next().value!)
    return fresh
  }
}

interface Whose {
  readonly who: string
  readonly name: string
  readonly count: () => Promise<number>
}

function assertPayloads(wanted: readonly Wanted[], max: number): void {
  for (const { options } of wanted) {
    if (options.payload === undefined) continue
    const text = options.payload instanceof RawJson ? options.payload.text : JSON.stringify(options.payload)
    const bytes = utf8Length(text)
    if (bytes > max)
      throw new WakefulError(
        'payload_too_large',
        `the payload is ${bytes} bytes; your quota is ${max} (payload_bytes)`,
      )
  }
}

async function assertPeriods(
  looks: RuleLooks,
  wanted: readonly Wanted[],
  minInterval: string,
): Promise<void> {
  const minMs = parseDuration(minInterval)
  for (const { when } of wanted) {
    if (when === null || (await looks.at(when)).shortestMs >= minMs) continue
    throw new WakefulError(
      'quota_exceeded',
      `your quota lets an alarm recur every ${minInterval} at the shortest (min_interval)`,
    )
  }
}

/** Of those that fire once: what recurs is bounded by its period. */
async function soonDue(looks: RuleLooks, wanted: readonly Wanted[], now: number): Promise<number> {
  let soon = 0
  for (const { when } of wanted) {
    if (when === null) continue
    const { rule } = await looks.at(when)
    if (rule.kind === 'once' && rule.at <= now + SOON_MS) soon += 1
  }
  return soon
}

async function exists(alarms: Alarms, { key }: SetOptions): Promise<boolean> {
  const known = key === undefined ? null : await alarms.getByKey(key)
  return known !== null && (known.status === 'active' || known.status === 'paused')
}
