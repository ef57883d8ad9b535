import type { Hono } from 'hono'
import { WakefulError } from '../../error.ts'
import type { Readings } from '../../library/index.ts'
import type { Clock } from '../../time/index.ts'
import { refusal } from '../http/index.ts'
import type { Metrics } from './metrics.ts'
import type { MetricsAccess } from './metrics-access.ts'
import { TimedOut, withTimeout } from './store-reads.ts'

/** One thing that was checked, and what was found. */
interface HealthCheck {
  readonly ok: boolean
  readonly detail: string
}

/** What readiness is decided by. */
export interface ReadinessOptions {
  readonly readings: () => Promise<Readings>
  readonly clock: Clock
  /** How long the store may take to answer. */
  readonly timeoutMs: number
  /** How late alarms may fire. */
  readonly lagMsMax: number
  readonly isStopping: () => boolean
}

/** What the monitoring routes need. */
export interface MonitoringParts extends ReadinessOptions {
  readonly metrics: Metrics
  /** Who may read the metrics: those with a key of all tenants, anyone, or no one. */
  readonly metricsFor: 'key' | 'open' | 'off'
  readonly access: MetricsAccess
}

/** HAProxy's plain check of a path is OPTIONS. */
const CHECK_METHODS = ['GET', 'OPTIONS']
const NO_STORE = { 'cache-control': 'no-store' }

/** Adds `/healthz`, `/readyz` and `/metrics`. They are neither logged nor counted, because monitors call them all the time. */
export function addMonitoringRoutes(app: Hono, parts: MonitoringParts): void {
  app.on(CHECK_METHODS, '/healthz', () => healthResponse(liveness()))
  app.on(CHECK_METHODS, '/readyz', async () => healthResponse(await readiness(parts)))
  if (parts.metricsFor === 'off') return
  app.get('/metrics', async ({ req }) => {
    try {
      const mayRead = parts.metricsFor === 'open' || parts.access.assertMayRead(req.raw.headers)
      // Both at once: each may take most of a second, and the answer must come within one.
      const [{ contentType, body }] = await Promise.all([parts.metrics.text(), mayRead])
      return new Response(body, { headers: { 'content-type': contentType, ...NO_STORE } })
    } catch (thrown) {
      return refusal(thrown)
    }
  })
}

function healthResponse({ status, body }: ReturnType<typeof healthOf>): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...NO_STORE },
  })
}

/** `/healthz`: the process runs. It does not ask the store: a store that is down is no reason to restart this process. */
export function liveness() {
  return healthOf({ process: { ok: true, detail: 'running' } })
}

/** `/readyz`: whether requests should be sent here, and whether alarms fire. */
export async function readiness(ports: ReadinessOptions) {
  const { clock, timeoutMs, lagMsMax, isStopping } = ports
  const from = clock.monotonic()
  const stopping = isStopping()
  const process = {
    ok: !stopping,
    detail: stopping ? 'stopping: send requests elsewhere' : 'running',
  }
  try {
    const readings = await withTimeout(ports.readings(), timeoutMs, clock)
    const durationMs = Math.round(clock.monotonic() - from)
    const { takesWrites } = readings
    const isReadOnly = takesWrites ? '' : ', but does not accept writes: it is read-only, or a standby'
    const store = { ok: takesWrites, detail: `answered in ${durationMs} ms${isReadOnly}` }
    const secret = secretOf(readings)
    return healthOf({ process, store, secret, shards: shardsOf(readings), lag: lagOf(readings, lagMsMax) })
  } catch (thrown) {
    return healthOf({ process, store: { ok: false, detail: storeErrorText(thrown) } })
  }
}

/** An answer of `/healthz` or `/readyz`. */
function healthOf(checks: Readonly<Record<string, HealthCheck>>) {
  const isOk = Object.values(checks).every(({ ok }) => ok)
  return { status: isOk ? 200 : 503, body: { status: isOk ? 'ok' : 'unavailable', checks } }
}

/** A standby process is ready: it answers calls, and takes over when another process ends. */
function shardsOf({ isRunning, pools }: Readings): HealthCheck {
  if (!isRunning) return { ok: false, detail: 'the engine was not started here' }
  const sum = (count: (pool: Readings['pools'][number]) => number) =>
    pools.reduce((total, pool) => total + count(pool), 0)
  const [here, elsewhere, unowned] = [sum((p) => p.here), sum((p) => p.elsewhere), sum((p) => p.nobody)]
  const standby = here === 0 && elsewhere > 0 ? ', standing by' : ''
  const detail = `${here} run here, ${elsewhere} in other processes, ${unowned} in none${standby}`
  return { ok: here > 0 || elsewhere > 0, detail }
}

function secretOf({ hasSecret }: Readings): HealthCheck {
  const detail = hasSecret
    ? 'this process can sign webhooks'
    : 'this process lacks the secret of its store, so it sends no webhooks and leaves them to other processes'
  return { ok: hasSecret, detail }
}

function lagOf({ pools }: Readings, lagMsMax: number): HealthCheck {
  // Only pools that run here count: a pool that no process serves is not a reason to send requests elsewhere.
  const lags = pools.filter(({ here }) => here > 0).map(({ lagMs }) => lagMs)
  const worst = Math.max(0, ...lags)
  const detail = `the oldest due alarm is ${seconds(worst)} late; the limit is ${seconds(lagMsMax)}`
  return { ok: worst <= lagMsMax, detail }
}

function seconds(ms: number): string {
  return `${Math.round(ms) / 1_000} s`
}

/** Callers need no key, so the answer contains neither the store's address nor its error. The log has both. */
function storeErrorText(thrown: unknown): string {
  if (thrown instanceof TimedOut) return thrown.message
  return thrown instanceof WakefulError && thrown.code === 'schema_too_new'
    ? 'the store was changed by a newer version'
    : 'the store does not answer'
}
