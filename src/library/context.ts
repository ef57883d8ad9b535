import type { BuildContext, Context, Limits } from '../alarm/index.ts'
import type { Engine, Observer } from '../engine/index.ts'
import type { LogNotifier, LogWatch } from '../log/index.ts'
import type { Store } from '../stores/index.ts'
import type { Clock } from '../time/index.ts'
import type { TenantSecrets } from './api.ts'
import type { DefaultTargets } from './default-target.ts'

/** What the calls of every owner share. */
export interface LibraryContext {
  readonly store: Store
  readonly clock: Clock
  readonly engine: Engine
  readonly observer: Observer | undefined
  /** Wakes readers when the log has grown. */
  readonly logNotifier: LogNotifier
  /** Notifies it of what other processes append. */
  readonly logWatch: LogWatch
  readonly limits: Limits
  readonly buildContext: BuildContext
  /** The zone of calls that name none. */
  readonly timezone: string
  readonly createdVia: string
  readonly defaultTargets: DefaultTargets
  /** Undefined on a host that sends no webhooks. */
  readonly webhookSecrets: TenantSecrets | undefined
  /** The present moment, chance and new ids, for a decision. */
  readonly context: () => Context
  readonly onError: (thrown: unknown) => void
}
