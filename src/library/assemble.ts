import { BUILT_IN_POOL, contextMaker, DEFAULTS, targetKey } from '../alarm/index.ts'
import { CatchUpLimiter, Engine } from '../engine/index.ts'
import { WakefulError } from '../error.ts'
import { LogNotifier } from '../log/index.ts'
import { defaultTarget, inboxTarget, Targets } from '../targets/index.ts'
import type { Wakeful } from './api.ts'
import type { Assembly } from './context.ts'
import { DefaultTargets, HandlerNames, KeyedQueue } from './documents/index.ts'
import { Upkeep } from './upkeep.ts'
import { WakefulLibrary } from './wakeful.ts'

/** How many names of paused targets are read at once. The next check reads more. */
const PAUSED_TARGETS_MAX = 10_000

/** Wires store, clock, targets, engine and library together, the same in every host. */
export function assemble(assembly: Assembly): Wakeful {
  const { store, clock, observer, pauses, onError, limits } = assembly
  const targets: Targets = new Targets([
    inboxTarget(store),
    defaultTarget(
      (scope) => defaultTargets.find(scope),
      (delivery) => targets.deliver(delivery),
      (target) => pauses?.pausedTargets().has(targetKey(target)) ?? false,
    ),
    ...assembly.targets,
  ])
  const handlerNames = new HandlerNames(store, clock, assembly.handlers)
  const parse = targets.parse.bind(targets)
  const { defaultTarget: ofProcess } = assembly
  const defaultTargets = new DefaultTargets({ documents: store, clock, parse, handlerNames, ofProcess })
  const context = contextMaker(assembly)
  const logNotifier = new LogNotifier(store, clock)
  const upkeep = new Upkeep({ ...assembly, context, handlerNames })
  const pools = poolsOf(assembly)
  const catchUp =
    pauses === undefined
      ? null
      : new CatchUpLimiter({
          pauses,
          clock,
          requeue: (which, limit) => engine.requeuePaused(which, limit),
          pausedTargets: () => store.pausedTargets(engine.leases, PAUSED_TARGETS_MAX),
          share: async () => {
            const shards = await store.shardStates(false, await pools())
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
    prepare: () => upkeep.recomputeInstants(),
    onLogged: (scopes) => {
      if (scopes === null) logNotifier.notifyAll()
      else for (const scope of scopes) logNotifier.notify(scope)
    },
    onError,
    ...assembly.engine,
  })
  return new WakefulLibrary({
    ...assembly,
    engine,
    logNotifier,
    fieldContext: {
      limits,
      defaults: { ...DEFAULTS, ...assembly.defaults },
      target: parse,
    },
    defaultTargets,
    handlerNames,
    calendarEdits: new KeyedQueue(),
    context,
    upkeep,
    catchUp,
  })
}

/**
 * The pools that this process serves, asked at each heartbeat. Without the secret of the store it serves its own handlers
 * only: it would hold shards whose webhooks it can never send.
 */
function poolsOf(assembly: Assembly): () => Promise<readonly string[]> {
  const { handlers, serveBuiltIns, checkSecret, onError } = assembly
  const own = [handlers.pool]
  const all = serveBuiltIns ? [...new Set([BUILT_IN_POOL, handlers.pool])] : own
  let isReported = false
  return async () => {
    const refusal = (await checkSecret?.()) ?? null
    if (refusal === null) return all
    if (!isReported)
      onError(new WakefulError('secret.pool_left', { cause: refusal.message, pool: BUILT_IN_POOL }))
    isReported = true
    return own
  }
}
