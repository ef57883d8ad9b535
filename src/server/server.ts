import { randomUUID } from 'node:crypto'
import { WakefulError } from '../error.ts'
import type { Wakeful } from '../library/index.ts'
import type { AdminAct, Audit } from './audit.ts'
import { buildCalls } from './calls/index.ts'
import { Gate } from './gate.ts'
import { buildApp } from './http/app.ts'
import { isLoopback } from './http/local-guard.ts'
import { KeyBook } from './keys/key-book.ts'
import { Listener } from './listener.ts'
import { Live, type LiveOptions } from './live/live.ts'
import { openApi } from './openapi.ts'
import { QuotaGuard } from './tenants/quota-guard.ts'
import { NO_QUOTAS, type QuotaPair } from './tenants/quotas.ts'
import { TenantBook } from './tenants/tenant-book.ts'

/** What a server is made of. */
export interface ServerOptions {
  readonly wakeful: Wakeful
  readonly host: string
  readonly port: number
  readonly version: string
  readonly bodyBytesMax?: number
  readonly allowedOrigins?: readonly string[]
  /** How long requests under way may take once the server is to close. */
  readonly drainMs?: number
  readonly onTrouble: (thrown: unknown) => void
  /** What holds for tenants of which nothing else is said. */
  readonly quotas?: QuotaPair
  /** Told of everything an admin does. */
  readonly onAdminAct?: (act: AdminAct) => void
  /** What bounds WebSockets and streams. */
  readonly live?: LiveOptions
}

const BODY_BYTES_MAX = 1024 * 1024
const DRAIN_MS = 10_000

/** A server that is listening. */
export interface Server {
  readonly url: string
  close(): Promise<void>
}

/** Listens, and answers calls about the alarms of this Wakeful. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { wakeful, onTrouble } = options
  const { clock, documents } = wakeful.operator
  const keys = new KeyBook(documents, clock)
  const tenants = new TenantBook(documents, clock, options.quotas ?? NO_QUOTAS)
  const quotas = new QuotaGuard(tenants, clock, (tenant) => wakeful.operator.pendingOf(tenant))
  const isLocal = isLoopback(options.host)
  if (!isLocal && !(await keys.hasKeys())) throw refusedWithoutKeys(options.host)
  const audit: Audit = async (act) => {
    options.onAdminAct?.(act)
    const { act: name, by, tenant, about } = act
    await wakeful.operator.audit(tenant, { type: `admin.${name}`, data: { by, ...about } })
  }
  const live = new Live({ keys, documents, clock, onTrouble }, options.live)
  const allowedOrigins = new Set(options.allowedOrigins)
  const gate = new Gate({
    keys,
    tickets: live.tickets,
    isLocal,
    forTenant: (tenant, owner) => wakeful.forTenant(tenant, owner),
    allowedOrigins,
  })
  const calls = buildCalls({ keys, tenants, quotas, clock, audit, live: live.parts })
  const app = buildApp({
    door: gate,
    calls,
    bodyBytesMax: options.bodyBytesMax ?? BODY_BYTES_MAX,
    newRequestId: randomUUID,
    monotonic: () => clock.monotonic(),
    onAnswered: ({ thrown }) => {
      if (thrown !== null) onTrouble(thrown)
    },
  })
  const document = JSON.stringify(openApi(options.version))
  app.get('/openapi.json', (c) =>
    c.body(document, 200, { 'content-type': 'application/json; charset=utf-8' }),
  )
  const listener = await Listener.listen({
    host: options.host,
    port: options.port,
    fetch: app.fetch as never,
  })
  live.attach(listener.http, { door: gate, calls, allowedOrigins })
  const close = () => {
    live.close()
    return listener.close(options.drainMs ?? DRAIN_MS)
  }
  return { url: listener.url, close }
}

function refusedWithoutKeys(host: string): WakefulError {
  return new WakefulError(
    'forbidden',
    `listening on ${host} lets others call, and there are no keys yet: make one with 'wakeful keys create --rights admin --tenant "*"' (on the same store), or listen on 127.0.0.1`,
  )
}
