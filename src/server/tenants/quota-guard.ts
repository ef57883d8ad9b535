import type { AlarmView, SetOptions } from '../../alarm/index.ts'
import type { Quotas } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import { type Alarms, type Operator, ofItem } from '../../library/index.ts'
import { type Clock, parseDuration, type When } from '../../time/index.ts'
import type { Caller } from '../auth/index.ts'
import { ActiveAlarmCount, type Rate, RateLimiter } from '../limits/index.ts'
import { RuleInspector, type RuleSummary } from './rule-inspector.ts'
import { assertSize } from './sizes.ts'
import type { TenantRegistry } from './tenant-registry.ts'

const HOUR_MS = 3_600_000
/** An alarm due this soon after it was set may be part of a loop. */
const SOON_MS = 300_000
const COUNTS_MAX = 10_000
const QUOTA_RETRY_MS = 60_000

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

/** What is read from the store about whole tenants and idempotency keys. */
export type QuotaStore = Pick<Operator, 'pendingOf' | 'isKnown'>

/** How much a call uses of each quota. */
interface Use {
  readonly sets: number
  readonly wakes: number
  readonly active: number
}

/** The quotas of an owner or of a tenant, and what they are counted with. */
interface Level {
  readonly quotas: Quotas
  readonly name: string
  /** As error messages name it: `you` or `your tenant`. */
  readonly scope: string
  readonly active: ActiveAlarmCount
}

/**
 * Enforces the quotas of tenants and owners. Without quotas it costs one read of a cached document. Each process counts
 * for itself: rates are per process, and what others have set within the last second is not counted.
 */
export class QuotaGuard {
  readonly #tenants: TenantRegistry
  readonly #clock: Clock
  readonly #store: QuotaStore
  readonly #rates: RateLimiter
  readonly #counts = new Map<string, ActiveAlarmCount>()

  constructor(tenants: TenantRegistry, clock: Clock, store: QuotaStore) {
    this.#tenants = tenants
    this.#clock = clock
    this.#store = store
    this.#rates = new RateLimiter(clock)
  }

  /** Does the work if the quotas allow all of it, else throws. Work that fails uses no alarms and no wakes. */
  async within<T>(caller: Caller, wanted: readonly QuotaRequest[], work: () => Promise<T>): Promise<T> {
    const levels = await this.#levelsOf(caller)
    if (levels.length === 0) return work()
    const fresh = await this.#withoutRepeats(caller, wanted)
    const rules = new RuleInspector(caller.alarms, this.#clock)
    for (const { quotas } of levels) {
      const { payload_bytes: bytesMax, min_interval: minInterval } = quotas
      if (bytesMax !== undefined) assertSizes(fresh, bytesMax)
      if (minInterval !== undefined) await assertPeriods(rules, fresh, minInterval)
    }
    const use = await this.#charge(levels, rules, caller, fresh)
    try {
      const done = await work()
      for (const { active } of levels) active.end(use.active, true)
      return done
    } catch (thrown) {
      for (const level of levels) {
        level.active.end(use.active, false)
        this.#spend(level, { wakes: -use.wakes })
      }
      throw thrown
    }
  }

  /** Owners first: an owner beyond its own quota uses nothing of its tenant's. */
  async #levelsOf({ tenant, owner, alarms }: Caller): Promise<Level[]> {
    const quotas = await this.#tenants.quotasOf(tenant)
    const level = (scope: string, of: Quotas, name: string, inStore: () => Promise<number>) =>
      Object.keys(of).length === 0 ? [] : [{ quotas: of, name, scope, active: this.#activeOf(name, inStore) }]
    return [
      ...level(
        'you',
        quotas.owner,
        JSON.stringify([tenant, owner]),
        async () => (await alarms.stats()).pending,
      ),
      ...level('your tenant', quotas.tenant, JSON.stringify([tenant]), () => this.#store.pendingOf(tenant)),
    ]
  }

  /** Without sets whose idempotency key is known: they change nothing and use nothing. */
  async #withoutRepeats({ tenant, owner }: Caller, wanted: readonly QuotaRequest[]): Promise<QuotaRequest[]> {
    const isRepeat = await Promise.all(
      wanted.map((each) => {
        const key = each.does === 'set' ? each.options.idempotencyKey : undefined
        return key !== undefined && this.#store.isKnown({ tenant, owner }, key)
      }),
    )
    return wanted.filter((_, at) => !isRepeat[at])
  }

  /** Charges every level, or throws and charges none. */
  async #charge(
    levels: readonly Level[],
    rules: RuleInspector,
    { alarms }: Caller,
    wanted: readonly QuotaRequest[],
  ): Promise<Use> {
    const sets = wanted.filter(({ does }) => does === 'set' || does === 'edit').length
    let wakes = 0
    if (levels.some(({ quotas }) => quotas.wakes_per_hour !== undefined))
      for (const each of wanted) if (await isWake(rules, each, this.#clock.now())) wakes += 1
    let active = wanted.filter(mayAdd).length
    const bounded = active === 0 ? [] : levels.filter(({ quotas }) => quotas.active_alarms !== undefined)
    const isOver = ({ quotas, active: count }: Level) => count.current + active > quotas.active_alarms!
    await Promise.all(bounded.map((level) => level.active.refresh()))
    if (bounded.some(isOver)) {
      // At the limit, existing alarms may still be set again, and no call is rejected because of an old count.
      const adds = await Promise.all(wanted.map((each) => addsOne(alarms, each)))
      active = adds.filter(Boolean).length
      await Promise.all(bounded.map((level) => level.active.recount()))
    }
    // Nothing is awaited from here on: no other call can use what was found free.
    const use = { sets, wakes, active }
    for (const level of levels) this.#assertRates(level, use)
    const full = active === 0 ? undefined : bounded.find(isOver)
    if (full !== undefined) throw tooMany(full)
    for (const level of levels) {
      this.#spend(level, use)
      level.active.begin(active)
    }
    return use
  }

  #assertRates({ quotas, name, scope }: Level, { sets, wakes }: Use): void {
    const { sets_per_second: perSecond, wakes_per_hour: perHour } = quotas
    if (perSecond !== undefined && sets > 0) {
      const waitMs = this.#rates.waitMs(`sets ${name}`, sets, setRate(perSecond))
      if (waitMs > 0)
        throw new WakefulError(
          'quota.sets_per_second',
          { scope, max: alarms(perSecond) },
          { retryAfterMs: waitMs },
        )
    }
    if (perHour !== undefined && wakes > 0) {
      const waitMs = this.#rates.waitMs(`wakes ${name}`, wakes, wakeRate(perHour))
      if (waitMs > 0)
        throw new WakefulError(
          'quota.wakes_per_hour',
          { scope, max: alarms(perHour) },
          { retryAfterMs: waitMs },
        )
    }
  }

  #spend({ quotas, name }: Level, { sets = 0, wakes = 0 }: Partial<Use>): void {
    const { sets_per_second: perSecond, wakes_per_hour: perHour } = quotas
    if (perSecond !== undefined && sets !== 0) this.#rates.spend(`sets ${name}`, sets, setRate(perSecond))
    if (perHour !== undefined && wakes !== 0) this.#rates.spend(`wakes ${name}`, wakes, wakeRate(perHour))
  }

  #activeOf(name: string, inStore: () => Promise<number>): ActiveAlarmCount {
    const found = this.#counts.get(name) ?? new ActiveAlarmCount(inStore, () => this.#clock.monotonic())
    this.#counts.delete(name)
    this.#counts.set(name, found)
    if (this.#counts.size > COUNTS_MAX) this.#counts.delete(this.#counts.keys().next().value!)
    return found
  }
}

function setRate(perSecond: number): Rate {
  return { size: Math.max(1, perSecond), perMs: perSecond / 1000 }
}

function wakeRate(perHour: number): Rate {
  return { size: perHour, perMs: perHour / HOUR_MS }
}

function alarms(count: number): string {
  return `${count} alarm${count === 1 ? '' : 's'}`
}

function tooMany({ quotas, scope }: Level): WakefulError {
  return new WakefulError(
    'quota.active_alarms',
    { scope, max: quotas.active_alarms ?? null },
    { retryAfterMs: QUOTA_RETRY_MS },
  )
}

/** What is known of when it fires; null if the call does not set that. */
async function inspect(rules: RuleInspector, wanted: QuotaRequest): Promise<RuleSummary | null> {
  if (!('when' in wanted) || wanted.when === null) return null
  return rules.inspect(wanted.when, wanted.does === 'edit' ? wanted.id : undefined)
}

/** Whether it fires soon: at once, or at a near first instant. Later instants are bounded by `min_interval`. */
async function isWake(rules: RuleInspector, wanted: QuotaRequest, now: number): Promise<boolean> {
  if (!('when' in wanted)) return true
  const firstAt = (await inspect(rules, wanted))?.firstAt
  return firstAt !== undefined && firstAt <= now + SOON_MS
}

/** Whether there may be one more active alarm afterwards. A reschedule makes an alarm that awaits its report active. */
function mayAdd(wanted: QuotaRequest): boolean {
  return 'when' in wanted ? wanted.when !== null : wanted.does === 'retry'
}

/** Whether there will be one more, judging by the alarm as it is. An alarm that does not exist is rejected by the call itself. */
async function addsOne(alarms: Alarms, wanted: QuotaRequest): Promise<boolean> {
  if (!mayAdd(wanted)) return false
  if (wanted.does !== 'set') return isActive(await alarms.get(wanted.id)) === false
  const { key } = wanted.options
  return key === undefined || isActive(await alarms.getByKey(key)) !== true
}

function isActive(alarm: AlarmView | null): boolean | null {
  return alarm && (alarm.status === 'active' || alarm.status === 'paused')
}

function assertSizes(wanted: readonly QuotaRequest[], bytesMax: number): void {
  for (const each of wanted) if ('options' in each) naming(each, () => assertSize(each.options, bytesMax))
}

async function assertPeriods(
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
