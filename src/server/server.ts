import { randomUUID } from 'node:crypto'
import type { Hono } from 'hono'
import { WakefulError } from '../error.ts'
import type { Wakeful } from '../library/index.ts'
import {
  type AdminAct,
  type Audit,
  Authenticator,
  CalendarFeeds,
  KeyRegistry,
  TicketStore,
} from './auth/index.ts'
import { buildCalls, pageQueue } from './calls/index.ts'
import { addPages, openApi } from './docs/index.ts'
import { isLoopback } from './http/index.ts'
import { Listener } from './listener.ts'
import { Live, type LiveOptions } from './live/index.ts'
import { mountMcp } from './mcp/index.ts'
import {
  type Answered,
  addMonitoringRoutes,
  Log,
  Metrics,
  MetricsAccess,
  recentReadings,
  requestLine,
} from './observability/index.ts'
import { type AppParts, buildApp } from './rest/index.ts'
import { NO_QUOTAS, PauseControl, QuotaGuard, type QuotaPair, TenantRegistry } from './tenants/index.ts'

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
  /** What bounds WebSockets and streams. */
  readonly live?: LiveOptions
}

const BODY_BYTES_MAX = 1024 * 1024
/** Bodies that are being received, over all connections. */
const BODIES_BYTES_MAX = 256 * 1024 * 1024
const DRAIN_MS = 10_000
const READY_TIMEOUT_MS = 2_000
const READY_LAG_MS = 60_000

/** A server that is listening. */
export interface Server {
  readonly url: string
  /** Makes `/readyz` say that no more requests should be sent here. */
  stopping(): void
  /** Waits for running requests, up to this time or the one it was started with, and closes all connections. */
  close(withinMs?: number): Promise<void>
}

/** Listens, and answers calls about the alarms of this Wakeful. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { clock, documents } = options.wakeful.operator
  const log = options.log ?? silentLog(() => clock.now())
  const keys = new KeyRegistry(documents, clock)
  const isLocal = isLoopback(options.host)
  if (!isLocal && !(await keys.hasKeys())) throw keysRequired(options.host)
  const pauses = options.pauses ?? new PauseControl()
  // It may be attached already: the engine needs it also where no server runs.
  const detach = await pauses.attach(documents, clock, (thrown) => log.error(thrown))
  try {
    return await listen(options, { log, keys, isLocal, pauses, detach })
  } catch (thrown) {
    detach()
    throw thrown
  }
}

/** What exists before the server is put together. */
interface Foundation {
  readonly log: Log
  readonly keys: KeyRegistry
  readonly isLocal: boolean
  readonly pauses: PauseControl
  readonly detach: () => void
}

async function listen(options: ServerOptions, foundation: Foundation): Promise<Server> {
  const { detach, keys } = foundation
  const metrics = options.metrics ?? new Metrics({ version: options.version, node: process.version })
  const { parts, live } = partsOf(options, foundation, metrics)
  const app = buildApp(parts)
  let isStopping = false
  const access = new MetricsAccess(parts.authenticator, parts.clock)
  keys.onChanged((id) => access.forget(id))
  mount(app, options, parts, { metrics, access, isStopping: () => isStopping })
  const { host, port } = options
  const listener = await Listener.listen({
    host,
    port,
    bodies: { bytesMax: BODIES_BYTES_MAX, bodyBytesMax: parts.bodyBytesMax },
    fetch: app.fetch,
  })
  live.attach((handle) => listener.onUpgrade(handle), parts)
  const stopping = () => {
    isStopping = true
  }
  const close = async (withinMs = options.drainMs ?? DRAIN_MS) => {
    stopping()
    detach()
    live.close()
    await listener.close(withinMs)
  }
  return { url: listener.url, stopping, close }
}

/** What answers calls, through whichever interface they come. */
function partsOf(options: ServerOptions, { log, keys, isLocal, pauses }: Foundation, metrics: Metrics) {
  const { wakeful } = options
  const { operator } = wakeful
  const { clock, documents } = operator
  const onError = (thrown: unknown) => log.error(thrown)
  const connected = (kind: Parameters<Metrics['connected']>[0]) => metrics.connected(kind)
  const live = new Live({ keys, clock, connected, onError }, options.live)
  const { connections, stream } = live
  const tickets = new TicketStore(documents, clock)
  const feeds = new CalendarFeeds(documents, clock)
  const allowedOrigins = new Set(options.allowedOrigins)
  const authenticator = new Authenticator({
    keys,
    tickets,
    feeds,
    isLocal,
    forTenant: (tenant, owner) => wakeful.forTenant(tenant, owner),
    allowedOrigins,
    allowedHosts: new Set(options.allowedHosts),
  })
  const tenants = new TenantRegistry(documents, clock, options.quotas ?? NO_QUOTAS)
  const quotas = new QuotaGuard(tenants, clock, operator)
  const audit = auditor(wakeful, log)
  const pages = pageQueue()
  const shared = { keys, tenants, quotas, pauses, feeds, tickets, operator, audit }
  const parts = {
    authenticator,
    allowedOrigins,
    calls: buildCalls({ ...shared, connections, stream, pages }),
    pages,
    bodyBytesMax: options.bodyBytesMax ?? BODY_BYTES_MAX,
    newRequestId: randomUUID,
    clock,
    onAnswered: (answered: Answered, startedAt: number) => {
      const line = requestLine(answered, clock.monotonic() - startedAt)
      log.request(line)
      metrics.request(line)
    },
  }
  return { parts, live }
}

/** Adds what is there besides the calls: MCP, the OpenAPI document, the docs, and monitoring. */
function mount(
  app: Hono,
  options: ServerOptions,
  parts: AppParts,
  { metrics, access, isStopping }: { metrics: Metrics; access: MetricsAccess; isStopping: () => boolean },
): void {
  const { clock, readings } = options.wakeful.operator
  mountMcp(app, { ...parts, version: options.version, now: () => clock.now() })
  const document = JSON.stringify(openApi(options.version))
  app.get('/openapi.json', (c) =>
    c.body(document, 200, { 'content-type': 'application/json; charset=utf-8' }),
  )
  addPages(app, randomUUID)
  addMonitoringRoutes(app, {
    access,
    newRequestId: randomUUID,
    metrics,
    metricsFor: options.metricsFor ?? 'key',
    readiness: {
      readings: recentReadings(readings, clock),
      clock,
      timeoutMs: options.readyTimeoutMs ?? READY_TIMEOUT_MS,
      lagMsMax: options.readyLagMs ?? READY_LAG_MS,
      isStopping,
    },
  })
}

/** Writes what admins do to the server's log, and to the event log of the tenant concerned. */
function auditor(wakeful: Wakeful, log: Log): Audit {
  return async (act: AdminAct) => {
    log.audit(act)
    const { act: name, by, tenant, about } = act
    const concerned = typeof about.tenant === 'string' ? about.tenant : tenant
    await wakeful.operator.audit(concerned, { type: `admin.${name}`, data: { by, ...about } })
  }
}

function silentLog(now: () => number): Log {
  return new Log({ level: 'silent', format: 'json', write: () => {}, now, pid: process.pid })
}

function keysRequired(host: string): WakefulError {
  return new WakefulError('access.listen_without_keys', { host })
}
