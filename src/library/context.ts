import type { AlarmDefaults, Context, FieldContext, Limits, Scope, TargetSpec } from '../alarm/index.ts'
import type { DeliveryLimits, Engine, EngineOptions, Observer, PauseState } from '../engine/index.ts'
import type { WakefulError } from '../error.ts'
import type { LogNotifier } from '../log/index.ts'
import type { Store } from '../stores/index.ts'
import type { HandlerTarget, TargetKind } from '../targets/index.ts'
import type { Clock, PhraseSettings } from '../time/index.ts'
import type { TenantSecrets } from './api.ts'
import type { DefaultTargets, HandlerNames, KeyedQueue } from './documents/index.ts'

/** What a host provides: its ports, its sources of chance, and what the user has set. */
export interface Assembly {
  readonly store: Store
  readonly clock: Clock
  readonly handlers: HandlerTarget
  /** Every kind of target of this host, with its handlers; the inbox and owners' defaults are added here. */
  readonly targets: readonly TargetKind[]
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
  readonly engine: Pick<EngineOptions, 'concurrency' | 'batchMax' | 'drainMs'>
  /** Occurrences later than this are misfires. */
  readonly graceMs: number
  /** What operators have paused and resumed. */
  readonly pauses?: PauseState | undefined
  /** How many deliveries tenants and owners may have running in this process. */
  readonly deliveryLimits?: DeliveryLimits | undefined
  readonly scope: Scope
  readonly limits: Limits
  readonly defaults: Partial<AlarmDefaults>
  /** How long ended alarms are kept, with their events; null keeps them for ever. */
  readonly retentionMs: number | null
  /** How often old alarms are deleted, and interrupted computations of pending instants are finished. */
  readonly upkeepMs?: number
  /** Where alarms without a target go whose owner and tenant have no default target. */
  readonly defaultTarget?: TargetSpec | undefined
  readonly timezone: string
  /** How phrases are read where they leave the time of day open. */
  readonly phrases?: PhraseSettings | undefined
  readonly createdVia: string
  readonly onError: (thrown: unknown) => void
  /** Undefined on a host that sends no webhooks. */
  readonly webhookSecrets?: TenantSecrets
  /**
   * Why this process lacks the secret of the store, and so must not serve the built-in targets; null if it has it. Undefined
   * on a host that does not serve them.
   */
  readonly checkSecret?: () => Promise<WakefulError | null>
  /** Frees what the targets use, when nothing is delivered any more. */
  readonly release?: () => void
  /** Called with every attempt, as it is written. */
  readonly observer?: Observer | undefined
}

/** What the calls of every owner share. */
export interface LibraryContext extends Omit<Assembly, 'engine'> {
  readonly engine: Engine
  /** Wakes readers when the log has grown. */
  readonly logNotifier: LogNotifier
  /** What the values of an alarm's fields depend on. */
  readonly fieldContext: FieldContext
  readonly defaultTargets: DefaultTargets
  readonly handlerNames: HandlerNames
  /** Edits of calendars, by tenant. */
  readonly calendarEdits: KeyedQueue
  /** The present moment, chance and new ids, for a decision. */
  readonly context: () => Context
}
