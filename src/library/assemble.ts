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
import { LogNotifier } from '../log/index.ts'
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
import { Upkeep } from './maintenance.ts'
import { reviewStore } from './reviews.ts'
import { WakefulLibrary } from './wakeful.ts'

/** What a host brings to be put together: its ports, its sources of chance, and what the user has set. */
export interface Assembly {
  readonly store: Store
  readonly clock: Clock
  readonly handlers: HandlerTarget
  /** Every kind of target of this host, its handlers among them; the inbox and owners' defaults come with every one. */
  readonly targets: Targets
  /** Whether this process also runs the built-in targets. */
  readonly serveBuiltIns: boolean
  /** This process, by a name that no other has or had. */
  readonly process: string
  /** Fills bytes by chance, for ids. */
  readonly fill: (bytes: Uint8Array<ArrayBuffer>) => void
  /** From 0 to below 1, for the jitter of retries. */
  readonly random: () => number
  /** The version of the runtime's zone data. */
  readonly zoneData: string
  readonly engine: Pick<EngineOptions, 'concurrency' | 'batchMax' | 'graceMs' | 'drainMs'>
  /** What operators have paused and resumed, where there are any. */
  readonly holds?: PauseState
  /** How many deliveries tenants and owners may have under way in this process. */
  readonly deliveryLimits?: DeliveryLimits
  readonly scope: Scope
  readonly limits: Limits
  readonly defaults: Partial<AlarmDefaults>
  readonly retentionMs: number | null
  /** How often what is old is deleted, and what another process left undone is done. */
  readonly upkeepMs?: number
  readonly timezone: string
  readonly createdVia: string
  readonly onTrouble: (thrown: unknown) => void
  /** Left out by a host that sends no webhooks. */
  readonly webhookSecrets?: TenantSecrets
  /** Lets go of what the targets hold, when nothing is delivered any more. */
  readonly release?: () => void
  /** Told of every attempt, as it is written. */
  readonly observer?: Observer | undefined
}

/** Of more names than these, those left over come back when they are looked at by themselves. */
const HELD_NAMES_MAX = 10_000

/** Wires store, clock, targets, engine and library together, the same in every host. */
export function assemble(assembly: Assembly): Wakeful {
  const { store, clock, observer, handlers, random, onTrouble, limits, upkeepMs } = assembly
  const defaultTargets = new DefaultTargets(store, clock)
  const targets: Targets = assembly.targets.with([
    inboxTarget(store),
    defaultTarget(
      (scope) => defaultTargets.find(scope),
      (errand) => targets.deliver(errand),
      (target) => assembly.holds?.pausedTargets().has(targetKey(target)) ?? false,
    ),
  ])
  const makeId = idMaker(assembly.fill)
  const context = (): Context => {
    const now = clock.now()
    return { now, random, newId: () => makeId(now) }
  }
  const bell = new LogNotifier()
  const review = () => reviewStore({ store, context, observer, onTrouble, zoneData: assembly.zoneData })
  const pools = assembly.serveBuiltIns ? [...new Set([BUILT_IN_POOL, handlers.pool])] : [handlers.pool]
  const pacer =
    assembly.holds === undefined
      ? null
      : new CatchUpLimiter({
          pauses: assembly.holds,
          clock,
          requeue: (which, limit) => engine.requeuePaused(which, limit),
          pausedTargets: () => store.pausedTargets(engine.leases, HELD_NAMES_MAX),
          share: async () => {
            const shards = await store.shardStates(false, pools)
            return shards.length === 0 ? 0 : engine.leases.length / shards.length
          },
          onError: onTrouble,
        })
  const engine = new Engine({
    store,
    clock,
    dispatcher: targets,
    process: assembly.process,
    pools,
    ...(assembly.deliveryLimits !== undefined && { limits: assembly.deliveryLimits }),
    ...(pacer !== null && { pauses: pacer, onGained: () => pacer.restart() }),
    observer,
    context,
    prepare: review,
    onLogged: (scopes) => {
      if (scopes === null) bell.notifyAll()
      else for (const scope of scopes) bell.notify(scope)
    },
    onError: onTrouble,
    ...assembly.engine,
  })
  return new WakefulLibrary({
    store,
    engine,
    clock,
    observer,
    defaultTargets,
    handlers,
    pacer,
    bell,
    upkeep: new Upkeep({
      store,
      clock,
      observer,
      keepMs: assembly.retentionMs,
      ...(upkeepMs !== undefined && { everyMs: upkeepMs }),
      review,
      onTrouble,
    }),
    scope: assembly.scope,
    limits,
    workshop: {
      limits,
      defaults: { ...DEFAULTS, ...assembly.defaults },
      target: (spec) => targets.parse(spec),
      newId: () => makeId(clock.now()),
    },
    timezone: assembly.timezone,
    createdVia: assembly.createdVia,
    context,
    onTrouble,
    webhookSecrets: assembly.webhookSecrets,
    release: assembly.release ?? (() => {}),
  })
}
