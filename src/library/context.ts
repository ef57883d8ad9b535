import type { BuildContext, Context, Limits } from '../alarm/index.ts'
import type { Observer } from '../engine/index.ts'
import type { LogNotifier } from '../log/index.ts'
import type { Store } from '../stores/index.ts'
import type { Clock } from '../time/index.ts'
import type { TenantSecrets } from './api.ts'
import type { DefaultTargets } from './default-target.ts'

/** What one owner's calls need from the whole they belong to. */
export interface LibraryContext {
  readonly store: Store
  readonly clock: Clock
  readonly observer: Observer | undefined
  readonly logNotifier: LogNotifier
  readonly limits: Limits
  readonly buildContext: BuildContext
  /** The zone where a call names none. */
  readonly timezone: string
  readonly createdVia: string
  readonly defaultTargets: DefaultTargets
  readonly webhookSecrets: TenantSecrets | undefined
  context(): Context
  /** Tells the engine that something may be due at this moment. */
  hint(wakeAt: number | null): void
  /** Watches for what other processes append, until the answer is called. */
  watchLog(): () => void
}
