import { assertText, type BuildContext, type Context, type Limits, type Scope } from '../alarm/index.ts'
import type { CatchUpLimiter, Engine, Observer } from '../engine/index.ts'
import { WakefulError } from '../error.ts'
import type { LogNotifier } from '../log/index.ts'
import type { Store } from '../stores/index.ts'
import type { Handler, HandlerOptions, HandlerTarget } from '../targets/index.ts'
import type { Clock } from '../time/index.ts'
import { ScopedAlarms } from './alarms.ts'
import type { Alarms, ClockState, Operator, TenantSecrets, TickResult, Wakeful } from './api.ts'
import type { LibraryContext } from './context.ts'
import type { DefaultTargets } from './default-target.ts'
import { LogWatch } from './log-watch.ts'
import type { Upkeep } from './maintenance.ts'
import { checked } from './options.ts'
import { readingsOf } from './readings.ts'

const HANDLER = { transactional: true, timeoutMs: true } as const

/** What a host puts together. */
export interface WakefulParts {
  readonly store: Store
  readonly clock: Clock
  readonly observer: Observer | undefined
  readonly engine: Engine
  readonly defaultTargets: DefaultTargets
  readonly handlers: HandlerTarget
  readonly upkeep: Upkeep
  /** Lets go of what operators held; null where there are none. */
  readonly pacer: CatchUpLimiter | null
  /** Rung when the log has grown. */
  readonly bell: LogNotifier
  readonly scope: Scope
  readonly limits: Limits
  readonly workshop: BuildContext
  readonly timezone: string
  readonly createdVia: string
  readonly context: () => Context
  readonly onTrouble: (thrown: unknown) => void
  readonly webhookSecrets: TenantSecrets | undefined
  /** Lets go of what the host's targets hold, when nothing is delivered any more. */
  readonly release: () => void
}

/** The front of it all, the same in every host: calls go to the store, the engine fires, the log is followed. */
export class WakefulLibrary extends ScopedAlarms implements Wakeful {
  readonly limits: Limits
  readonly operator: Operator
  readonly #parts: WakefulParts
  readonly #surround: LibraryContext
  #unwatch: (() => void) | null = null
  #closing: Promise<void> | null = null

  constructor(parts: WakefulParts) {
    const surround = surroundOf(parts)
    super(surround, parts.scope)
    this.limits = parts.limits
    this.operator = {
      readings: () => readingsOf(parts.engine, parts.store, parts.clock),
      shardsHere: () => parts.engine.leases.length,
      clock: parts.clock,
      documents: parts.store,
      calendarsOf: (tenant) => parts.store.calendars(tenant),
      audit: (tenant, act) => this.#audit(tenant, act),
      pendingOf: (tenant) => parts.store.countPending(tenant),
      isKnown: async (scope, idempotencyKey) => (await parts.store.get(scope, { idempotencyKey })) !== null,
      drain: () => parts.engine.stop(),
    }
    this.#parts = parts
    this.#surround = surround
  }

  handle(name: string, handler: Handler, options: HandlerOptions = {}): void {
    const { handlers, engine, onTrouble } = this.#parts
    handlers.register(name, handler, checked<HandlerOptions>('handle', options, HANDLER))
    if (engine.isRunning) void engine.requeueForHandlers().catch(onTrouble)
  }

  async start(): Promise<void> {
    this.#assertOpen()
    const { engine, store, upkeep, pacer } = this.#parts
    this.#unwatch ??= store.onChange((news) => (news === 'shards' ? engine.renew() : engine.hint(null)))
    await engine.start()
    // It may have been closed while it started.
    if (this.#closing !== null) return
    upkeep.start()
    pacer?.start()
  }

  async tick(): Promise<TickResult> {
    this.#assertOpen()
    const { delivered, nextWakeAt } = await this.#parts.engine.tick()
    this.#surround.logNotifier.notifyAll()
    return { fired: delivered, nextWakeAt: nextWakeAt === null ? null : new Date(nextWakeAt) }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  forTenant(tenant: string, owner = ''): Alarms {
    assertText('tenant', tenant, this.limits.nameBytesMax)
    assertText('owner', owner, this.limits.nameBytesMax)
    if (tenant === '') throw new WakefulError('invalid_request', 'tenant is empty: name one')
    return new ScopedAlarms(this.#surround, { tenant, owner })
  }

  async ownership(): Promise<ClockState[]> {
    const shards = await this.#parts.store.shardStates()
    return shards.map(({ pool, holder: owner, epoch, pending, nextWakeAt }) => {
      return { pool, owner, epoch, pending, nextWakeAt: nextWakeAt === null ? null : new Date(nextWakeAt) }
    })
  }

  get isOwner(): boolean {
    return this.#parts.engine.leases.length > 0
  }

  async #close(): Promise<void> {
    const { engine, store, upkeep, pacer, bell, release } = this.#parts
    upkeep.stop()
    pacer?.stop()
    this.#unwatch?.()
    try {
      await engine.stop()
    } finally {
      release()
      bell.close()
      await store.close()
    }
  }

  async #audit(tenant: string, { type, data }: Parameters<Operator['audit']>[1]): Promise<void> {
    const { store, context, bell } = this.#parts
    const { now, newId } = context()
    const event = {
      id: newId(),
      type,
      at: now,
      subject: null,
      correlationId: null,
      data: JSON.stringify(data),
    }
    const scope = { tenant, owner: '' }
    await store.append(scope, event)
    bell.notify(scope)
  }

  #assertOpen(): void {
    if (this.#closing !== null)
      throw new WakefulError('store_unavailable', 'this Wakeful is closed: open another')
  }
}

function surroundOf(parts: WakefulParts): LibraryContext {
  const { store, engine, clock, limits, workshop, timezone, createdVia, context, bell } = parts
  const { defaultTargets, webhookSecrets, observer } = parts
  const watch = new LogWatch(store, bell, clock)
  return {
    store,
    clock,
    observer,
    defaultTargets,
    logNotifier: bell,
    limits,
    buildContext: workshop,
    timezone,
    createdVia,
    webhookSecrets,
    context,
    hint: (wakeAt) => engine.hint(wakeAt),
    watchLog: () => watch.add(),
  }
}
