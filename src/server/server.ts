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

/** What a server is made of. */
export interface ServerOptions {
  readonly wakeful: Wakeful
  readonly host: string
  readonly port: number
  readonly version: string
  readonly bodyBytesMax?: number
  /** Pages that may call, as origins: `https://app.example`. */
  readonly allowedOrigins?: readonly string[]
  /** Names beside those of this machine by which it may be called while there are no keys. */
  readonly allowedHosts?: readonly string[]
  /** What holds for tenants of which nothing else is said. */
  readonly quotas?: QuotaPair
  /** What this Wakeful was opened with, so that a pause here holds what fires there. */
  readonly pauses?: PauseControl
  readonly log?: Log
  readonly metrics?: Metrics
  /** Who may read the metrics: holders of a key of all tenants (on this machine, without keys, everybody), anyone, nobody. */
  readonly metricsFor?: 'key' | 'open' | 'off'
  /** How long `/readyz` waits for the store, and how far the clock may lag behind. */
  readonly readyTimeoutMs?: number
  readonly readyLagMs?: number
  /** How long requests under way may take once the server is to close. */
  readonly drainMs?: number
  /** What bounds WebSockets and streams. */
  readonly live?: LiveOptions
}

const BODY_BYTES_MAX = 1024 * 1024
/** Bodies that are on their way, over all connections. */
const ARRIVING_BYTES_MAX = 256 * 1024 * 1024
const DRAIN_MS = 10_000
const READY_TIMEOUT_MS = 2_000
const READY_LAG_MS = 60_000

/** A server that is listening. */
export interface Server {
  readonly url: string
  /** Says at `/readyz` that no more requests should come. */
  stopping(): void
  /** Lets requests under way end within this time, or the one it was started with, and hangs up. */
  close(withinMs?: number): Promise<void>
}

/** Listens, and answers calls about the alarms of this Wakeful. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { clock, documents } = options.wakeful.operator
  const log = options.log ?? quietLog(() => clock.now())
  const keys = new KeyRegistry(documents, clock)
  const isLocal = isLoopback(options.host)
  if (!isLocal && !(await keys.hasKeys())) throw refusedWithoutKeys(options.host)
  const holds = options.pauses ?? new PauseControl()
  // Whoever opened Wakeful with a switchboard may have attached it: the clock needs it also where nothing listens.
  const detach = await holds.attach(documents, clock, (thrown) => log.trouble(thrown))
  try {
    return await listen(options, { log, keys, isLocal, holds, detach })
  } catch (thrown) {
    detach()
    throw thrown
  }
}

/** What a server has before it is put together. */
interface Foundation {
  readonly log: Log
  readonly keys: KeyRegistry
  readonly isLocal: boolean
  readonly holds: PauseControl
  readonly detach: () => void
}

async function listen(options: ServerOptions, foundation: Foundation): Promise<Server> {
  const { detach } = foundation
  const metrics = options.metrics ?? new Metrics({ version: options.version, node: process.version })
  const { parts, live } = partsOf(options, foundation, metrics)
  const app = buildApp(parts)
  let isStopping = false
  const gate = new MetricsAccess(parts.authenticator, options.wakeful.operator.clock)
  foundation.keys.onChanged((id) => gate.forget(id))
  mount(app, options, parts, { metrics, gate, isStopping: () => isStopping })
  const { host, port } = options
  const listener = await Listener.listen({
    host,
    port,
    arriving: { bytesMax: ARRIVING_BYTES_MAX, bodyBytesMax: parts.bodyBytesMax },
    fetch: (request, env) => app.fetch(request, env),
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

/** What answers calls, whichever door they come in by. */
function partsOf(options: ServerOptions, { log, keys, isLocal, holds }: Foundation, metrics: Metrics) {
  const { wakeful } = options
  const { clock, documents } = wakeful.operator
  const onTrouble = (thrown: unknown) => log.trouble(thrown)
  const connected = (kind: Parameters<Metrics['connected']>[0]) => metrics.connected(kind)
  const live = new Live({ keys, clock, connected, onTrouble }, options.live)
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
  const quotas = new QuotaGuard(tenants, clock, wakeful.operator)
  const audit = auditor(wakeful, log)
  const pages = pageQueue()
  const { operator } = wakeful
  const parts = {
    authenticator,
    allowedOrigins,
    calls: buildCalls({
      keys,
      tenants,
      quotas,
      holds,
      feeds,
      tickets,
      operator,
      audit,
      connections: live.connections,
      stream: live.stream,
      pages,
    }),
    pages,
    bodyBytesMax: options.bodyBytesMax ?? BODY_BYTES_MAX,
    newRequestId: randomUUID,
    monotonic: () => clock.monotonic(),
    onAnswered: (answered: Answered, startedAt: number) => {
      const line = requestLine(answered, clock.monotonic() - startedAt)
      log.request(line)
      metrics.request(line)
    },
  }
  return { parts, live }
}

/** What is there beside the calls: MCP, the description of the API, the docs, and what monitors ask for. */
function mount(
  app: Hono,
  options: ServerOptions,
  parts: AppParts,
  { metrics, gate, isStopping }: { metrics: Metrics; gate: MetricsAccess; isStopping: () => boolean },
): void {
  const { clock, readings } = options.wakeful.operator
  mountMcp(app, { ...parts, version: options.version, now: () => clock.now() })
  const document = JSON.stringify(openApi(options.version))
  app.get('/openapi.json', (c) =>
    c.body(document, 200, { 'content-type': 'application/json; charset=utf-8' }),
  )
  addPages(app, randomUUID)
  addMonitoringRoutes(app, {
    gate,
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

/** What admins do is in the server's log, and in the log of the tenant it concerns. */
function auditor(wakeful: Wakeful, log: Log): Audit {
  return async (act: AdminAct) => {
    log.audit(act)
    const { act: name, by, tenant, about } = act
    const concerned = typeof about.tenant === 'string' ? about.tenant : tenant
    await wakeful.operator.audit(concerned, { type: `admin.${name}`, data: { by, ...about } })
  }
}

function quietLog(now: () => number): Log {
  return new Log({ level: 'silent', format: 'json', write: () => {}, now, pid: process.pid })
}

function refusedWithoutKeys(host: string): WakefulError {
  return new WakefulError(
    'forbidden',
    `listening on ${host} lets others call, and there are no keys yet: make one with 'wakeful keys create --rights admin --tenant "*"' (on the same store), or listen on 127.0.0.1`,
  )
}
