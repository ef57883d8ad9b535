import type { Hono } from 'hono'
import { refusal } from '../http/index.ts'
import { type Health, liveness, type ReadinessOptions, readiness } from './health.ts'
import type { Metrics } from './metrics.ts'
import type { MetricsAccess } from './metrics-access.ts'

/** What the monitoring routes need. */
export interface MonitoringParts {
  readonly readiness: ReadinessOptions
  readonly metrics: Metrics
  /** Who may read the metrics: those with a key of all tenants, anyone, or no one. */
  readonly metricsFor: 'key' | 'open' | 'off'
  readonly access: MetricsAccess
  readonly newRequestId: () => string
}

const NO_STORE = { 'cache-control': 'no-store' }

/** Adds `/healthz`, `/readyz` and `/metrics`. They are neither logged nor counted, because monitors call them all the time. */
export function addMonitoringRoutes(app: Hono, parts: MonitoringParts): void {
  app.get('/healthz', () => healthResponse(liveness()))
  app.get('/readyz', async () => healthResponse(await readiness(parts.readiness)))
  if (parts.metricsFor === 'off') return
  app.get('/metrics', async ({ req }) => {
    try {
      if (parts.metricsFor === 'key') await parts.access.assertMayRead(req.raw.headers)
      const { contentType, body } = await parts.metrics.text()
      return new Response(body, { headers: { 'content-type': contentType, ...NO_STORE } })
    } catch (thrown) {
      return refusal(thrown, parts.newRequestId())
    }
  })
}

function healthResponse({ status, body }: Health): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...NO_STORE },
  })
}
