import {
  type AlarmDefaults,
  type Context,
  DEFAULTS,
  idMaker,
  type Limits,
  type Scope,
} from '../alarm/index.ts'
import { Engine, type EngineOptions, type HoldBook, Pacer } from '../engine/index.ts'
import { Bell } from '../log/index.ts'
import type { Store } from '../stores/index.ts'
import { BUILT_IN_POOL, type HandlerTarget, type Targets } from '../targets/index.ts'
import type { Clock } from '../time/index.ts'
import type { TenantSecrets, Wakeful } from './api.ts'
import { reviewStore } from './reviews.ts'
import { Upkeep } from './upkeep.ts'
import { WakefulLibrary } from './wakeful.ts'

/** What a host brings to be put together: its ports, its sources of chance, and what the user has set. */
export interface Assembly {
  readonly store: Store
  readonly clock: Clock
  readonly handlers: HandlerTarget
  /** Every kind of target this process knows, its handlers among them. */
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
  readonly holds?: HoldBook
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
}

/** Wires store, clock, targets, engine and library together, the same in every host. */
export function assemble(assembly: Assembly): Wakeful {
  const { store, clock, handlers, targets, random, onTrouble, limits, upkeepMs } = assembly
  const makeId = idMaker(assembly.fill)
  const context = (): Context => {
    const now = clock.now()
    return { now, random, newId: () => makeId(now) }
  }
  const bell = new Bell()
  const review = () => reviewStore({ store, context, onTrouble, zoneData: assembly.zoneData })
  const pools = assembly.serveBuiltIns ? [...new Set([BUILT_IN_POOL, handlers.pool])] : [handlers.pool]
  const pacer =
    assembly.holds === undefined
      ? null
      : new Pacer({
          book: assembly.holds,
          clock,
          release: (which, limit) => engine.release(which, limit),
          share: async () => {
            const shards = (await store.ownership(false)).filter(({ pool }) => pools.includes(pool))
            return shards.length === 0 ? 0 : engine.leases.length / shards.length
          },
          onTrouble,
        })
  const engine = new Engine({
    store,
    clock,
    courier: targets,
    owner: assembly.process,
    pools,
    ...(pacer !== null && { holds: pacer, onGained: () => pacer.lookAgain() }),
    context,
    prepare: review,
    onLogged: () => bell.ring(),
    onTrouble,
    ...assembly.engine,
  })
  return new WakefulLibrary({
    store,
    engine,
    handlers,
    pacer,
    bell,
    upkeep: new Upkeep({
      store,
      clock,
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
