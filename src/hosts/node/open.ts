import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { type AlarmDefaults, assertText, DEFAULT_LIMITS, type Limits } from '../../alarm/index.ts'
import { display, WakefulError } from '../../error.ts'
import {
  assemble,
  checked,
  type DeliveryLimits,
  type Observer,
  type PauseState,
  type Wakeful,
} from '../../library/index.ts'
import type { Store } from '../../stores/index.ts'
import type { System } from '../../stores/sqlite/index.ts'
import {
  assertPool,
  BUILT_IN_POOL,
  DEFAULT_POOL,
  eventTarget,
  HandlerTarget,
  Targets,
} from '../../targets/index.ts'
import { assertTimezone, type Clock, JumpTolerantClock, parseDuration } from '../../time/index.ts'
import { loadPostgres } from './load-postgres.ts'
import { isPostgres, storePath } from './store-url.ts'
import { systemClock } from './system-clock.ts'
import { type NodeWebhooks, openWebhooks, type WebhookOptions, webhookSettings } from './webhooks.ts'

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
  readonly tenant?: string
  readonly owner?: string
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

const RETENTION = '30d'
const OPEN = {
  pool: true,
  namesPool: true,
  serveBuiltIns: true,
  timezone: true,
  tenant: true,
  owner: true,
  concurrency: true,
  batch: true,
  grace: true,
  drain: true,
  retention: true,
  limits: true,
  defaults: true,
  createdVia: true,
  pauses: true,
  deliveryLimits: true,
  onError: true,
  random: true,
  trustClock: true,
  secret: true,
  allowPrivateTargets: true,
  webhooks: true,
  observer: true,
  clock: true,
} as const
const LIMITS = {
  payloadBytesMax: true,
  messageBytesMax: true,
  nameBytesMax: true,
  batchMax: true,
  listMax: true,
} as const
const ALARM_DEFAULTS = {
  maxFailures: true,
  backoffBaseMs: true,
  backoffCapMs: true,
  completionTimeoutMs: true,
} as const

/** Opens Wakeful on a store: `sqlite:alarms.db`, `sqlite::memory:`, a bare path, or `postgres://user@host/database`. */
export function open(url: string, options: OpenOptions = {}): Promise<Wakeful> {
  return openOn(url, options)
}

/** The same, with SQLite on a simulated system, which a test can crash. */
export async function openOn(url: string, options: OpenOptions, system?: System): Promise<Wakeful> {
  const settings = settingsOf(options)
  const onError = options.onError ?? warn
  const handlers = new HandlerTarget(options.pool ?? DEFAULT_POOL, options.namesPool)
  const opened = await openStore(url, options.clock, system)
  const clock = new JumpTolerantClock(opened.clock, (doubt) => onError(new Error(doubt)))
  if (options.trustClock !== true) clock.checkAgainst(await opened.store.newestInstant())
  const all = { ...options, onError }
  try {
    const webhooks = await openWebhooks(url, opened.store, clock, settings.webhooks, all)
    return wire(opened.store, clock, handlers, webhooks, settings, all)
  } catch (thrown) {
    await opened.store.close()
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

function wire(
  store: Store,
  clock: Clock,
  handlers: HandlerTarget,
  webhooks: NodeWebhooks,
  settings: Settings,
  options: OpenOptions & { onError: (thrown: unknown) => void },
): Wakeful {
  const { engine, limits, retentionMs, timezone } = settings
  return assemble({
    store,
    clock,
    handlers,
    targets: new Targets([handlers, eventTarget, webhooks.target]),
    serveBuiltIns: options.serveBuiltIns ?? true,
    process: `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`,
    fill: (bytes) => crypto.getRandomValues(bytes),
    random: options.random ?? Math.random,
    zoneData: process.versions.tz ?? 'unknown',
    scope: { tenant: options.tenant ?? 'default', owner: options.owner ?? '' },
    defaults: options.defaults ?? {},
    createdVia: options.createdVia ?? 'library',
    onError: options.onError,
    ...(options.pauses !== undefined && { pauses: options.pauses }),
    ...(options.deliveryLimits !== undefined && { deliveryLimits: options.deliveryLimits }),
    observer: options.observer,
    webhookSecrets: webhooks.secrets,
    release: () => webhooks.close(),
    engine,
    limits,
    retentionMs,
    timezone,
  })
}

interface Settings {
  readonly engine: { concurrency: number; batchMax: number; graceMs: number; drainMs: number }
  readonly limits: Limits
  readonly retentionMs: number | null
  readonly timezone: string
  readonly webhooks: ReturnType<typeof webhookSettings>
}

/** Checks the options before anything is opened, so that an invalid one creates no files. */
function settingsOf(options: OpenOptions): Settings {
  checked<OpenOptions>('open', options, OPEN)
  checked<Limits>('limits', options.limits ?? {}, LIMITS)
  checked<AlarmDefaults>('defaults', options.defaults ?? {}, ALARM_DEFAULTS)
  for (const [name, value] of Object.entries({ ...options.limits, ...options.defaults })) count(name, value)
  assertText('tenant', options.tenant ?? 'default', 512)
  assertText('owner', options.owner ?? '', 512)
  if (options.tenant === '') throw new WakefulError('field.empty', {}, { field: 'tenant' })
  for (const name of ['onError', 'random'] as const) {
    if (options[name] !== undefined && typeof options[name] !== 'function') {
      throw new WakefulError('field.malformed', { expected: 'a function' }, { field: name })
    }
  }
  for (const part of ['now', 'monotonic', 'setTimer', 'turn'] as const) {
    if (typeof (options.clock ?? systemClock)[part] !== 'function') {
      throw new WakefulError('host.clock', { part })
    }
  }
  if (assertPool(options.pool ?? DEFAULT_POOL) === BUILT_IN_POOL) {
    throw new WakefulError('pool.built_in', { name: BUILT_IN_POOL })
  }
  return {
    engine: {
      concurrency: count('concurrency', options.concurrency ?? 100),
      batchMax: count('batch', options.batch ?? 1_000),
      graceMs: parseDuration(options.grace ?? '60s'),
      drainMs: parseDuration(options.drain ?? '30s'),
    },
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    retentionMs: options.retention === null ? null : parseDuration(options.retention ?? RETENTION),
    timezone: assertTimezone(options.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone),
    webhooks: webhookSettings(options),
  }
}

function count(name: string, value: unknown): number {
  if (Number.isSafeInteger(value) && (value as number) >= 1) return value as number
  throw new WakefulError(
    'field.not_whole_number',
    { min: 1, max: null, value: display(value) },
    { field: name },
  )
}

/** Prints an error as a warning. */
export function warn(thrown: unknown): void {
  process.emitWarning(thrown instanceof Error ? thrown.message : String(thrown), 'WakefulWarning')
}
