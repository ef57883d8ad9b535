import {
  type AlarmDefaults,
  type Context,
  DEFAULTS,
  idMaker,
  type Limits,
  type Scope,
  targetKey,
} from '../alarm/index.ts'
import {
  CatchUpLimiter,
  type DeliveryLimits,
  Engine,
  type EngineOptions,
  type Observer,
  type PauseState,
} from '../engine/index.ts'
import { LogNotifier, LogWatch } from '../log/index.ts'
import type { Store } from '../stores/index.ts'
import {
  BUILT_IN_POOL,
  defaultTarget,
  type HandlerTarget,
  inboxTarget,
  type Targets,
} from '../targets/index.ts'
import type { Clock } from '../time/index.ts'
import type { TenantSecrets, Wakeful } from './api.ts'
import { DefaultTargets } from './default-target.ts'
import { Upkeep } from './upkeep.ts'
import { WakefulLibrary } from './wakeful.ts'

/** What a host provides: its ports, its sources of chance, and what the user has set. */
export interface Assembly {
  readonly store: Store
  readonly clock: Clock
  readonly handlers: HandlerTarget
  /** Every kind of target of this host, with its handlers; the inbox and owners' defaults are added here. */
  readonly targets: Targets
  /** Whether this process also runs the built-in targets. */
  readonly serveBuiltIns: boolean
  /** A name of this process that no other has or had. */
  readonly process: string
  /** Fills with random bytes, for ids. */
  readonly fill: (bytes: Uint8Array<ArrayBuffer>) => void
  /** From 0 to below 1, for the jitter of retries. */
  readonly random: () => number
  /** The version of the runtime's zone data. */
  readonly zoneData: string
  readonly engine: Pick<EngineOptions, 'concurrency' | 'batchMax' | 'graceMs' | 'drainMs'>
  /** What operators have paused and resumed. */
  readonly pauses?: PauseState | undefined
  /** How many deliveries tenants and owners may have running in this process. */
  readonly deliveryLimits?: DeliveryLimits
  readonly scope: Scope
  readonly limits: Limits
  readonly defaults: Partial<AlarmDefaults>
  readonly retentionMs: number | null
  /** How often old alarms are deleted, and unfinished reviews are finished. */
  readonly upkeepMs?: number
  readonly timezone: string
  readonly createdVia: string
  readonly onError: (thrown: unknown) => void
  /** Undefined on a host that sends no webhooks. */
  readonly webhookSecrets?: TenantSecrets
  /** Frees what the targets use, when nothing is delivered any more. */
  readonly release?: () => void
  /** Called with every attempt, as it is written. */
  readonly observer?: Observer | undefined
}

/** The most paused targets whose names are read at once; the rest come back at their next check. */
const PAUSED_TARGETS_MAX = 10_000

/** Wires store, clock, targets, engine and library together, the same in every host. */
export function assemble(assembly: Assembly): Wakeful {
  const { store, clock, observer, handlers, pauses, random, onError, limits } = assembly
  const defaultTargets = new DefaultTargets(store, clock)
  const targets: Targets = assembly.targets.with([
    inboxTarget(store),
    defaultTarget(
      (scope) => defaultTargets.find(scope),
      (delivery) => targets.deliver(delivery),
      (target) => pauses?.pausedTargets().has(targetKey(target)) ?? false,
    ),
  ])
  const makeId = idMaker(assembly.fill)
  const context = (): Context => {
    const now = clock.now()
    return { now, random, newId: () => makeId(now) }
  }
  const logNotifier = new LogNotifier()
  const upkeep = new Upkeep({
    store,
    clock,
    observer,
    context,
    zoneData: assembly.zoneData,
    keepMs: assembly.retentionMs,
    everyMs: assembly.upkeepMs,
    onError,
  })
  const pools = assembly.serveBuiltIns ? [...new Set([BUILT_IN_POOL, handlers.pool])] : [handlers.pool]
  const catchUp =
    pauses === undefined
      ? null
      : new CatchUpLimiter({
          pauses,
          clock,
          requeue: (which, limit) => engine.requeuePaused(which, limit),
          pausedTargets: () => store.pausedTargets(engine.leases, PAUSED_TARGETS_MAX),
          share: async () => {
            const shards = await store.shardStates(false, pools)
            return shards.length === 0 ? 0 : engine.leases.length / shards.length
          },
          onError,
        })
  const engine = new Engine({
    store,
    clock,
    dispatcher: targets,
    process: assembly.process,
    pools,
    ...(assembly.deliveryLimits !== undefined && { limits: assembly.deliveryLimits }),
    ...(catchUp !== null && { pauses: catchUp, onGained: () => catchUp.restart() }),
    observer,
    context,
    prepare: () => upkeep.review(),
    onLogged: (scopes) => {
      if (scopes === null) logNotifier.notifyAll()
      else for (const scope of scopes) logNotifier.notify(scope)
    },
    onError,
    ...assembly.engine,
  })
  return new WakefulLibrary({
    store,
    clock,
    engine,
    observer,
    logNotifier,
    logWatch: new LogWatch(store, logNotifier, clock),
    limits,
    buildContext: {
      limits,
      defaults: { ...DEFAULTS, ...assembly.defaults },
      target: (spec) => targets.parse(spec),
      newId: () => makeId(clock.now()),
    },
    timezone: assembly.timezone,
    createdVia: assembly.createdVia,
    defaultTargets,
    webhookSecrets: assembly.webhookSecrets,
    context,
    onError,
    handlers,
    upkeep,
    catchUp,
    scope: assembly.scope,
    release: assembly.release ?? (() => {}),
  })
}
