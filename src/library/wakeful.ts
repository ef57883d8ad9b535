import { assertText, checked, type Limits, type ReadScope } from '../alarm/index.ts'
import type { CatchUpLimiter } from '../engine/index.ts'
import { WakefulError } from '../error.ts'
import type { Handler, HandlerOptions } from '../targets/index.ts'
import type { Alarms, ClockState, LocalReads, Operator, TickResult, Wakeful } from './api.ts'
import { BulkAlarms } from './bulk-alarms.ts'
import type { LibraryContext } from './context.ts'
import { readingsOf } from './readings.ts'
import { ScopedReads, statsView } from './reads.ts'
import type { Upkeep } from './upkeep.ts'

const HANDLER = { transactional: true, timeoutMs: true } as const

/** What the library is made of. */
export interface WakefulParts extends LibraryContext {
  readonly upkeep: Upkeep
  /** Requeues what operators had paused; null where there are no pauses. */
  readonly catchUp: CatchUpLimiter | null
}

/** The library's entry point, the same in every host: calls go to the store, the engine fires, the log is followed. */
export class WakefulLibrary extends BulkAlarms implements Wakeful {
  readonly limits: Limits
  readonly operator: Operator
  readonly #parts: WakefulParts
  #unwatch: (() => void) | null = null
  #closing: Promise<void> | null = null

  constructor(parts: WakefulParts) {
    super(parts, parts.scope)
    const { store, engine, clock } = parts
    this.limits = parts.limits
    this.operator = {
      readings: () => readingsOf(parts),
      checkSecret: async () => (await parts.checkSecret?.()) ?? null,
      shardsHere: () => engine.leases.length,
      clock,
      documents: store,
      calendarsOf: (tenant) => store.calendars(tenant),
      audit: (tenant, act) => this.#audit(tenant, act),
      tenants: async (query) => {
        const found = await store.tenants(query)
        return found.map(({ tenant, stats }) => ({ tenant, stats: statsView(stats) }))
      },
      statsOf: async (tenant) => statsView(await store.stats({ tenant, owner: null })),
      pendingOf: (tenant) => store.countPending(tenant),
      isKnown: async (scope, idempotencyKey) => {
        assertText('idempotencyKey', idempotencyKey, this.limits.nameBytesMax)
        return (await store.get(scope, { idempotencyKey })) !== null
      },
      admittedAlarms: (scope, admit) => new BulkAlarms(parts, scope, admit),
      drain: () => engine.stop(),
    }
    this.#parts = parts
  }

  handle(name: string, handler: Handler, options: HandlerOptions = {}): void {
    const { handlers, handlerNames, engine, onError } = this.#parts
    handlers.register(name, handler, checked<HandlerOptions>('handle', options, HANDLER))
    if (!engine.isRunning) return
    void engine.requeueForHandlers().catch(onError)
    void handlerNames.announce().catch(onError)
  }

  async start(): Promise<void> {
    this.#assertOpen()
    const { engine, store, upkeep, catchUp } = this.#parts
    this.#unwatch ??= store.onChange((change) => (change === 'shards' ? engine.renew() : engine.hint(null)))
    await engine.start()
    // It may have been closed while it started.
    if (this.#closing !== null) return
    upkeep.start()
    catchUp?.start()
    await this.#announceHandlers()
  }

  async tick(): Promise<TickResult> {
    this.#assertOpen()
    const { engine, logNotifier } = this.#parts
    // Together: a `close` waits only for a tick that has begun.
    const [{ delivered, nextWakeAt }] = await Promise.all([engine.tick(), this.#announceHandlers()])
    logNotifier.notifyAll()
    return { fired: delivered, nextWakeAt: nextWakeAt === null ? null : new Date(nextWakeAt) }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  forTenant(tenant: string, owner = ''): Alarms {
    this.#assertTenant(tenant)
    assertText('owner', owner, this.limits.nameBytesMax)
    return new BulkAlarms(this.#parts, { tenant, owner })
  }

  allOwners(tenant: string = this.scope.tenant): LocalReads {
    this.#assertTenant(tenant)
    return this.#readsOf({ tenant, owner: null })
  }

  allTenants(): LocalReads {
    return this.#readsOf({ tenant: null, owner: null })
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

  async #announceHandlers(): Promise<void> {
    const { handlerNames, onError } = this.#parts
    await handlerNames.announce().catch((thrown: unknown) => {
      if (this.#closing === null) onError(thrown)
    })
  }

  async #close(): Promise<void> {
    const { engine, store, upkeep, catchUp, logNotifier, release } = this.#parts
    upkeep.stop()
    catchUp?.stop()
    this.#unwatch?.()
    try {
      await engine.stop()
    } finally {
      release?.()
      logNotifier.close()
      await store.close()
    }
  }

  async #audit(tenant: string, { type, data }: Parameters<Operator['audit']>[1]): Promise<void> {
    const { store, context, logNotifier } = this.#parts
    const { now, newId } = context()
    const about = { subject: null, correlationId: null, data: JSON.stringify(data) }
    const scope = { tenant, owner: '' }
    await store.append(scope, { id: newId(), type, at: now, ...about })
    logNotifier.notify(scope)
  }

  /** Only the reads of alarms: everything else of the class belongs to one owner. */
  #readsOf(readScope: ReadScope): LocalReads {
    const reads = new ScopedReads(this.#parts, this.scope, readScope)
    return {
      get: (id) => reads.get(id),
      list: (options) => reads.list(options),
      history: (options) => reads.history(options),
      historyPage: (options) => reads.historyPage(options),
      stats: () => reads.stats(),
      failed: (options) => reads.failed(options),
      failedPage: (options) => reads.failedPage(options),
      why: (id) => reads.why(id),
      wire: (id) => reads.wire(id),
      events: (options) => reads.events(options),
      eventPages: (options) => reads.eventPages(options),
      newest: () => reads.newest(),
    }
  }

  #assertTenant(tenant: string): void {
    assertText('tenant', tenant, this.limits.nameBytesMax)
    if (tenant === '') throw new WakefulError('field.empty', {}, { field: 'tenant' })
  }

  #assertOpen(): void {
    if (this.#closing !== null) throw new WakefulError('host.closed', {})
  }
}
