import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import {
  DEFAULTS as ALARM_DEFAULTS,
  type AlarmDefaults,
  assertPool,
  assertText,
  BUILT_IN_POOL,
  DEFAULT_LIMITS,
  DEFAULT_POOL,
  type Limits,
  type TargetSpec,
} from '../../alarm/index.ts'
import { WakefulError } from '../../error.ts'
import {
  assemble,
  checked,
  type DeliveryLimits,
  type Observer,
  type PauseState,
  type Wakeful,
  withDefaults,
} from '../../library/index.ts'
import type { Store } from '../../stores/index.ts'
import type { System } from '../../stores/sqlite/index.ts'
import { eventTarget, HandlerTarget } from '../../targets/index.ts'
import {
  assertPhraseSettings,
  assertTimezone,
  type Clock,
  JumpTolerantClock,
  type PhraseSettings,
  parseDuration,
} from '../../time/index.ts'
import { isPostgres, loadPostgres, storePath } from './store-url.ts'
import { systemClock } from './system-clock.ts'
import { openWebhooks, type WebhookOptions, webhookSettings, wholeNumber } from './webhooks.ts'

/** The options of `open`. All have defaults. */
export interface OpenOptions {
  /** The pool of this application's handlers. */
  readonly pool?: string
  /** The pool of handlers that alarms name without a pool; that of this application by default. */
  readonly namesPool?: string
  /** Whether this process also runs the built-in targets. */
  readonly serveBuiltIns?: boolean
  /** The default time zone of calls; the system's by default. */
  readonly timezone?: string
  /** How plain language is read where it leaves the time of day open: 'at 9', 'tomorrow morning'. */
  readonly phrases?: PhraseSettings
  readonly tenant?: string
  readonly owner?: string
  /** The target of alarms that name none, where neither their owner nor their tenant has a default target. */
  readonly defaultTarget?: TargetSpec
  /** Concurrent deliveries (100). */
  readonly concurrency?: number
  /** Alarms claimed at a time (1,000). */
  readonly batch?: number
  /** How late an occurrence may be before it is a misfire ('60s'). */
  readonly grace?: string
  /** How long `close` waits for deliveries in flight ('30s'). */
  readonly drain?: string
  /** How long ended alarms are kept ('30d'); null keeps them forever. */
  readonly retention?: string | null
  readonly limits?: Partial<Limits>
  readonly defaults?: Partial<AlarmDefaults>
  /** How alarms are created, for their record: `library`, `rest`, … */
  readonly createdVia?: string
  /** What operators have paused and resumed; a server sets it. */
  readonly pauses?: PauseState
  /** How many deliveries tenants and owners may have running in this process; a server sets it. */
  readonly deliveryLimits?: DeliveryLimits
  /** Called with errors that belong to no alarm, such as a store that does not answer; by default they are printed as warnings. */
  readonly onError?: (thrown: unknown) => void
  /** Random numbers from 0 to below 1, for the jitter of retries. A seeded generator makes tests repeatable. */
  readonly random?: () => number
  /** Accepts the wall clock at the start, however far it is from the last time in the store. */
  readonly trustClock?: boolean
  /** The master secret, from which webhooks' secrets come; else WAKEFUL_SECRET, else a file beside the store. */
  readonly secret?: string
  /** Lets webhooks reach loopback, private and other addresses that are not public; else WAKEFUL_ALLOW_PRIVATE_TARGETS=1. */
  readonly allowPrivateTargets?: boolean
  readonly webhooks?: WebhookOptions
  /** Called with every attempt as it is written, with skips, sets and store errors: for your own metrics. */
  readonly observer?: Observer
  /** Another clock, such as the virtual one of `wakeful/testing`. */
  readonly clock?: Clock
}

const DEFAULTS = {
  pool: DEFAULT_POOL,
  namesPool: undefined,
  serveBuiltIns: true,
  timezone: undefined,
  phrases: {},
  tenant: 'default',
  owner: '',
  defaultTarget: undefined,
  concurrency: 100,
  batch: 1_000,
  grace: '60s',
  drain: '30s',
  retention: '30d',
  limits: {},
  defaults: {},
  createdVia: 'library',
  pauses: undefined,
  deliveryLimits: undefined,
  onError: warn,
  random: Math.random,
  trustClock: false,
  secret: undefined,
  allowPrivateTargets: undefined,
  webhooks: {},
  observer: undefined,
  clock: undefined,
}

/** Opens Wakeful on a store: `sqlite:alarms.db`, `sqlite::memory:`, a bare path, or `postgres://user@host/database`. */
export function open(url: string, options: OpenOptions = {}): Promise<Wakeful> {
  return openOn(url, options)
}

/** The same, with SQLite on a simulated system, which a test can crash. */
export async function openOn(url: string, options: OpenOptions, system?: System): Promise<Wakeful> {
  const settings = settingsOf(options)
  const { pool, namesPool, tenant, owner, onError } = settings
  const handlers = new HandlerTarget(pool, namesPool)
  const { store, clock: storeClock } = await openStore(url, settings.clock, system)
  const clock = new JumpTolerantClock(storeClock, (doubt) => onError(new Error(doubt)))
  try {
    if (settings.trustClock !== true) clock.checkAgainst(await store.newestInstant())
    const webhooks = await openWebhooks(url, store, clock, settings)
    return assemble({
      ...settings,
      store,
      clock,
      handlers,
      targets: [handlers, eventTarget, webhooks.target],
      process: `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`,
      fill: (bytes) => crypto.getRandomValues(bytes),
      zoneData: process.versions.tz ?? 'unknown',
      scope: { tenant, owner },
      webhookSecrets: webhooks.secrets,
      ...(settings.serveBuiltIns && { checkSecret: webhooks.checkSecret }),
      release: () => webhooks.close(),
    })
  } catch (thrown) {
    await store.close()
    throw thrown
  }
}

/** The store and its clock: that of the database for PostgreSQL, unless another is passed. */
async function openStore(
  url: string,
  chosen: Clock | undefined,
  system: System | undefined,
): Promise<{ store: Store; clock: Clock }> {
  const clock = chosen ?? systemClock
  if (isPostgres(url)) {
    const { openPostgres } = await loadPostgres()
    const store = await openPostgres({ url, clock, clockIsAuthority: chosen !== undefined })
    return { store, clock: store.clock }
  }
  const path = storePath(url)
  const { openSqliteOn, realSystem } = await import('../../stores/sqlite/index.ts')
  return { store: await openSqliteOn(system ?? realSystem, { path, clock }), clock }
}

/** Checks the options before anything is opened, so that an invalid one creates no files. */
function settingsOf(options: OpenOptions) {
  const all = withDefaults('open', options, DEFAULTS)
  checked<Limits>('limits', all.limits, DEFAULT_LIMITS)
  checked<AlarmDefaults>('defaults', all.defaults, ALARM_DEFAULTS)
  for (const [name, value] of Object.entries({ ...all.limits, ...all.defaults })) wholeNumber(name, value)
  assertText('tenant', all.tenant, 512)
  assertText('owner', all.owner, 512)
  if (all.tenant === '') throw new WakefulError('field.empty', {}, { field: 'tenant' })
  for (const name of ['onError', 'random'] as const) {
    if (typeof all[name] !== 'function')
      throw new WakefulError('field.malformed', { expected: 'a function' }, { field: name })
  }
  for (const part of ['now', 'monotonic', 'setTimer', 'turn'] as const) {
    if (typeof (all.clock ?? systemClock)[part] !== 'function')
      throw new WakefulError('host.clock', { part }, { field: 'clock' })
  }
  if (assertPool(all.pool) === BUILT_IN_POOL)
    throw new WakefulError('pool.built_in', { name: BUILT_IN_POOL }, { field: 'pool' })
  return {
    ...all,
    engine: {
      concurrency: wholeNumber('concurrency', all.concurrency),
      batchMax: wholeNumber('batch', all.batch),
      drainMs: parseDuration(all.drain),
    },
    graceMs: parseDuration(all.grace),
    limits: { ...DEFAULT_LIMITS, ...all.limits },
    retentionMs: all.retention === null ? null : parseDuration(all.retention),
    timezone: assertTimezone(all.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone),
    phrases: assertPhraseSettings(all.phrases),
    webhooks: webhookSettings(options),
  }
}

/** Prints an error as a warning. */
export function warn(thrown: unknown): void {
  process.emitWarning(thrown instanceof Error ? thrown.message : String(thrown), 'WakefulWarning')
}
