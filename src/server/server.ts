import type { Hono } from 'hono'
import { WakefulError } from '../error.ts'
import type { Wakeful } from '../library/index.ts'
import { Authenticator, CalendarFeeds, isLoopback, KeyRegistry, TicketStore } from './auth/index.ts'
import { type Audit, buildCalls } from './calls/index.ts'
import { addPages, openApi } from './docs/index.ts'
import {
  ConnectionLimiter,
  EventReadLimiter,
  NO_QUOTAS,
  QuotaGuard,
  type QuotaPair,
  TenantRegistry,
} from './limits/index.ts'
import { Listener } from './listener.ts'
import { LIVE_LIMITS, type LiveOptions, type LiveParts, streamCall, wsEndpoint } from './live/index.ts'
import { mountMcp } from './mcp/index.ts'
import { addMonitoringRoutes, Log, Metrics, MetricsAccess, recentReadings } from './observability/index.ts'
import { type AppParts, buildApp } from './rest/index.ts'
import { PauseControl } from './tenants/index.ts'

/** How a server is started. */
export interface ServerOptions {
  readonly wakeful: Wakeful
  readonly host: string
  readonly port: number
  readonly version: string
  readonly bodyBytesMax?: number
  /** Origins whose pages may call: `https://app.example`. */
  readonly allowedOrigins?: readonly string[]
  /** Host names, besides those of this machine, that are accepted while there are no keys. */
  readonly allowedHosts?: readonly string[]
  /** The quotas of tenants that have none of their own. */
  readonly quotas?: QuotaPair
  /** The one this Wakeful was opened with, so that a pause made here stops what fires there. */
  readonly pauses?: PauseControl
  readonly log?: Log
  readonly metrics?: Metrics
  /** Who may read the metrics: those with a key of all tenants (without keys, everyone on this machine), anyone, or no one. */
  readonly metricsFor?: 'key' | 'open' | 'off'
  /** How long `/readyz` waits for the store, and how late alarms may fire. */
  readonly readyTimeoutMs?: number
  readonly readyLagMs?: number
  /** How long running requests may take once the server closes. */
  readonly drainMs?: number
  /** The limits of WebSockets and streams. */
  readonly live?: LiveOptions
}

const BODY_BYTES_MAX = 1024 * 1024
const DRAIN_MS = 10_000
const READY_TIMEOUT_MS = 2_000
const READY_LAG_MS = 60_000
const SILENT = new Log({ level: 'silent', format: 'json', write: () => {}, now: () => 0, pid: 0 })

/** A server that is listening. */
export interface Server {
  readonly url: string
  /** Makes `/readyz` fail, and tells clients to close their connections. Requests are still answered. */
  stopping(): void
  /** Closes the connections that wait for their next request. */
  closeIdle(): void
  /** Waits for running requests, up to this time or the one it was started with, and closes all connections. */
  close(withinMs?: number): Promise<void>
}

/** Listens, and answers calls about the alarms of this Wakeful. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { host, port, wakeful, log = SILENT, pauses = new PauseControl() } = options
  const { clock, documents } = wakeful.operator
  const keys = new KeyRegistry(documents, clock)
  if (!isLoopback(host) && !(await keys.hasKeys()))
    throw new WakefulError('access.listen_without_keys', { host })
  // It may be attached already: the engine needs it also where no server runs.
  const detach = await pauses.attach(documents, clock, (thrown) => log.error(thrown))
  try {
    const metrics = options.metrics ?? new Metrics({ version: options.version, node: process.version })
    const { parts, live } = partsOf(options, { log, keys, pauses, metrics })
    const app = buildApp(parts)
    let isStopping = false
    addOtherRoutes(app, options, parts, { keys, metrics, isStopping: () => isStopping })
    const listener = await Listener.listen({ host, port, bodyBytesMax: parts.bodyBytesMax, fetch: app.fetch })
    listener.onUpgrade(wsEndpoint(live, parts))
    const stopping = () => {
      isStopping = true
      listener.endKeepAlive()
    }
    const close = async (withinMs = options.drainMs ?? DRAIN_MS) => {
      stopping()
      detach()
      live.connections.close()
      await listener.close(withinMs)
    }
    return { url: listener.url, stopping, closeIdle: () => listener.closeIdle(), close }
  } catch (thrown) {
    detach()
    throw thrown
  }
}

/** What answers calls, through whichever interface they come. */
function partsOf(
  options: ServerOptions,
  shared: { log: Log; keys: KeyRegistry; pauses: PauseControl; metrics: Metrics },
) {
  const { wakeful } = options
  const { log, metrics } = shared
  const { operator } = wakeful
  const { clock, documents } = operator
  const tickets = new TicketStore(documents, clock)
  const feeds = new CalendarFeeds(documents, clock)
  const allowedOrigins = new Set(options.allowedOrigins)
  const authenticator = new Authenticator({
    ...shared,
    tickets,
    feeds,
    clock,
    isLocal: isLoopback(options.host),
    forTenant: (tenant, owner) => wakeful.forTenant(tenant, owner),
    allowedOrigins,
    allowedHosts: new Set(options.allowedHosts),
  })
  const limits = { ...LIVE_LIMITS, ...options.live }
  const connections = new ConnectionLimiter(authenticator, clock, limits.connectionsMax, metrics)
  const onError = (thrown: unknown) => log.error(thrown)
  const live: LiveParts = { ...limits, connections, reads: new EventReadLimiter(), clock, onError }
  const tenants = new TenantRegistry(documents, clock, options.quotas ?? NO_QUOTAS)
  const quotas = new QuotaGuard(tenants, clock, operator)
  const audit = auditor(wakeful, log)
  const stream = streamCall(live)
  const parts: AppParts = {
    ...buildCalls({ ...shared, tenants, quotas, feeds, tickets, operator, audit, connections, stream }),
    authenticator,
    allowedOrigins,
    bodyBytesMax: options.bodyBytesMax ?? BODY_BYTES_MAX,
    clock,
    onAnswered: (answered, startedAt) => {
      const durationMs = clock.monotonic() - startedAt
      log.request(answered, durationMs)
      metrics.request(answered, durationMs)
    },
  }
  return { parts, live }
}

/** Adds what is there besides the calls: MCP, the OpenAPI document, the docs, and monitoring. */
function addOtherRoutes(
  app: Hono,
  options: ServerOptions,
  parts: AppParts,
  { keys, metrics, isStopping }: { keys: KeyRegistry; metrics: Metrics; isStopping: () => boolean },
): void {
  const { clock, readings } = options.wakeful.operator
  mountMcp(app, parts, options.version)
  const document = JSON.stringify(openApi(options.version))
  app.get('/openapi.json', (c) =>
    c.body(document, 200, { 'content-type': 'application/json; charset=utf-8' }),
  )
  addPages(app)
  const access = new MetricsAccess(parts.authenticator, clock)
  keys.onChanged((id) => access.forget(id))
  addMonitoringRoutes(app, {
    access,
    metrics,
    metricsFor: options.metricsFor ?? 'key',
    readings: recentReadings(readings, clock),
    clock,
    timeoutMs: options.readyTimeoutMs ?? READY_TIMEOUT_MS,
    lagMsMax: options.readyLagMs ?? READY_LAG_MS,
    isStopping,
  })
}

/** Writes what admins do to the server's log, and to the event log of the tenant concerned. */
function auditor(wakeful: Wakeful, log: Log): Audit {
  return async ({ keyId, tenant }, act, about) => {
    const by = keyId ?? 'local'
    const concerned = typeof about.tenant === 'string' ? about.tenant : tenant
    log.audit({ act, by, tenant: concerned, about })
    await wakeful.operator.audit(concerned, { type: `admin.${act}`, data: { by, ...about } })
  }
}
