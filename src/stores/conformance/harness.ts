import {
  type Alarm,
  buildAlarm,
  type Change,
  type Context,
  cancel,
  DEFAULT_LIMITS,
  DEFAULTS,
  type DeliveryOutcome,
  firstTimer,
  idMaker,
  type Scope,
  type SetOptions,
  type Snapshot,
  type State,
  stateOf,
  type Target,
  triage,
} from '../../alarm/index.ts'
import { type Clock, resolveWhen, type When } from '../../time/index.ts'
import type { LogEvent } from '../event-log.ts'
import type {
  Claimed,
  ClaimedTimer,
  InFlightTimers,
  Lease,
  SetRequest,
  SetResult,
  SettleResult,
  Store,
} from '../store.ts'
import type { Examinee } from './conformance-case.ts'

/** The default owner in a case. */
export const ANN: Scope = { tenant: 'acme', owner: 'ann' }
/** Owners who must never see Ann's alarms: another owner of the tenant, and an owner with the same name in another tenant. */
export const OTHERS: readonly Scope[] = [
  { tenant: 'acme', owner: 'bob' },
  { tenant: 'zeta', owner: 'ann' },
]

/** The outcome of a delivery, without its times. */
export type DeliveryKind = 'delivered' | 'failed' | 'gone' | 'released' | 'lost'

/** How a case claims. */
interface ClaimOptions {
  readonly limit?: number
  readonly inFlight?: InFlightTimers
  readonly skipTenants?: ReadonlySet<string>
  readonly skipOwners?: ReadonlySet<string>
  /** Which alarms are passed over although they would fire. */
  readonly passes?: (alarm: Alarm) => boolean
}

const POOLS = ['app', 'wakeful']
const GRACE_MS = 60_000
const NONE_IN_FLIGHT: InFlightTimers = { size: 0, has: () => false }

/** The test harness of a case: a store, the calls that an engine and a library would make, and a clock. */
export class Harness {
  readonly store: Store
  readonly clock: SteppedClock
  readonly skip: (reason: string) => never
  readonly #examinee: Examinee
  readonly #peers: Store[] = []
  readonly #makeId = idMaker((bytes) => crypto.getRandomValues(bytes))
  /** Whether this process has the target's handler. */
  canRun: (target: Target) => boolean = () => true
  /** Whether an operator has paused the alarm's tenant or target. */
  isPaused: (alarm: Alarm) => boolean = () => false
  /** Set by cases that prune: the lifetime tallies are then higher than a recount. */
  hasPruned = false

  constructor(examinee: Examinee, clock: SteppedClock, skip: (reason: string) => never) {
    this.store = examinee.store
    this.#examinee = examinee
    this.clock = clock
    this.skip = skip
  }

  get now(): number {
    return this.clock.now()
  }

  context = (): Context => {
    const { now } = this
    return { now, graceMs: GRACE_MS, random: () => 0, newId: () => this.#makeId(now) }
  }

  /** A second process on the same rows; skips the case if the store cannot have one. */
  async peer(): Promise<Store> {
    const { peer } = this.#examinee
    if (typeof peer === 'string') return this.skip(peer)
    const store = await peer()
    this.#peers.push(store)
    return store
  }

  /** Waits 3 ms of real time, because a store may record heartbeats as a file's modification time. */
  async waitRealTime(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 3))
  }

  /** Skips the case if the store has no transactions for handlers. */
  needTransact(): void {
    const { transact } = this.#examinee
    if (transact !== true) this.skip(transact)
  }

  async close(): Promise<void> {
    for (const store of [...this.#peers, this.store]) await store.close()
  }

  /** The request that the library makes for a set. */
  request(when: When, options: SetOptions = {}, scope: Scope = ANN): SetRequest {
    const calendars = (name: string) => this.store.calendars(scope.tenant).find((each) => each.name === name)
    const resolved = resolveWhen(when, { now: this.now, timezone: 'UTC', calendars })
    const alarm = buildAlarm(scope, resolved, { target: 'remind', ...options }, this.now, {
      limits: DEFAULT_LIMITS,
      defaults: DEFAULTS,
      target: targetOf,
      newId: () => this.#makeId(this.now),
      calendars,
    })
    return { alarm, timer: firstTimer(alarm, resolved) }
  }

  async set(when: When, options: SetOptions = {}, scope: Scope = ANN): Promise<SetResult> {
    const [answer] = await this.store.set([this.request(when, options, scope)], this.context())
    return answer!
  }

  /** Sets an alarm and returns its id. */
  async alarm(when: When, options: SetOptions = {}, scope: Scope = ANN): Promise<string> {
    return (await this.set(when, options, scope)).snapshot.alarm.id
  }

  async get(id: string, scope: Scope = ANN): Promise<Snapshot> {
    const snapshot = await this.store.get(scope, { id })
    if (snapshot === null) throw new Error(`the store has no alarm ${id}`)
    return snapshot
  }

  async state(id: string, scope: Scope = ANN): Promise<State> {
    const { alarm, timers, outcome } = await this.get(id, scope)
    return stateOf(alarm, timers, outcome)
  }

  /** Edits one alarm by a pure decision, as the library does; returns whether it was found. */
  async edit(
    id: string,
    decide: (snapshot: Snapshot, context: Context) => Change,
    scope: Scope = ANN,
    occurrenceId?: string,
  ): Promise<boolean> {
    const context = this.context()
    const which = { id, occurrenceId }
    const { results: answers } = await this.store.edit(
      scope,
      which,
      (found) => ({ change: decide(found, context), answer: null }),
      context,
    )
    return answers.length === 1
  }

  async cancel(id: string, scope: Scope = ANN) {
    const context = this.context()
    const decide = (found: Snapshot) => {
      const { change, outcome } = cancel(found, context)
      return { change, answer: outcome }
    }
    return (await this.store.edit(scope, { id }, decide, context)).results[0]?.answer
  }

  heartbeat(owner = 'one', pools: readonly string[] = POOLS, store = this.store): Promise<Lease[]> {
    return store.heartbeat(owner, pools, this.context())
  }

  claim(leases: readonly Lease[], options: ClaimOptions = {}, store = this.store): Promise<Claimed> {
    const context = this.context()
    return store.claim(leases, {
      context,
      limit: options.limit ?? 100,
      inFlight: options.inFlight ?? NONE_IN_FLIGHT,
      ...(options.skipTenants !== undefined && { skipTenants: options.skipTenants }),
      ...(options.skipOwners !== undefined && { skipOwners: options.skipOwners }),
      isOverTime: () => false,
      triage: (found) => {
        const facts = {
          canRun: this.canRun(found.alarm.target),
          isPaused: this.isPaused(found.alarm),
          openCount: found.openCount,
        }
        const decision = triage(found, facts, context)
        return decision.kind === 'fire' && options.passes?.(found.alarm) === true
          ? { kind: 'leave_due' }
          : decision
      },
    })
  }

  /** Claims what is due, which must be one timer. */
  async claimOne(leases: readonly Lease[]): Promise<ClaimedTimer> {
    const { timers: claimed } = await this.claim(leases)
    if (claimed.length !== 1) throw new Error(`expected one due occurrence, found ${claimed.length}`)
    return claimed[0]!
  }

  delivery(outcome: DeliveryKind, error = 'no luck'): DeliveryOutcome {
    const times = { firedAt: this.now, endedAt: this.now }
    if (outcome === 'delivered') return { kind: 'delivered', ...times, report: null }
    if (outcome === 'gone') return { kind: 'failed', ...times, error, gone: true }
    return outcome === 'failed' ? { kind: 'failed', ...times, error } : { kind: outcome }
  }

  /** Settles claimed timers and their batches. */
  settle(
    claimed: ClaimedTimer | readonly ClaimedTimer[],
    outcome: DeliveryKind,
    store = this.store,
  ): Promise<SettleResult> {
    const all = Array.isArray(claimed) ? (claimed as readonly ClaimedTimer[]) : [claimed as ClaimedTimer]
    const settlements = all.map(({ lease, alarm, timer }) => ({
      lease,
      alarm,
      timer,
      delivery: this.delivery(outcome),
    }))
    const batches = [...new Set(all.map(({ batch }) => batch))]
    return store.settle(settlements, batches, this.context())
  }

  async events(id?: string, scope: Scope = ANN): Promise<readonly LogEvent[]> {
    const query = { after: 0, limit: 10_000 }
    return (await this.store.events(scope, id === undefined ? query : { ...query, alarmId: id })).events
  }

  async types(id: string): Promise<string[]> {
    return (await this.events(id)).map(({ type }) => type)
  }
}

/** Handlers by name in the pool `app`, `{ event: true }`, and `{ handler, pool }`. */
function targetOf(spec: unknown): Alarm['target'] {
  if (typeof spec === 'string') return { kind: 'handler', name: spec, pool: 'app' }
  const { handler, pool = 'app' } = spec as { handler?: string; pool?: string }
  if (handler === undefined) return { kind: 'event', name: 'event', pool: 'wakeful' }
  return { kind: 'handler', name: handler, pool }
}

/** A clock that a case advances. Stores only read it, for their leases; nothing waits on it. */
export class SteppedClock implements Clock {
  #now = Date.UTC(2030, 0, 1)
  #monotonic = 0

  now(): number {
    return this.#now
  }

  monotonic(): number {
    return this.#monotonic
  }

  setTimer(): () => void {
    throw new Error('a store does not set timers; only the engine does')
  }

  turn(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve))
  }

  /** Advances the time. */
  step(ms: number): void {
    this.#now += ms
    this.#monotonic += ms
  }
}
