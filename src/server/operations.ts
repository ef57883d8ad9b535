import type { Hono } from 'hono'
import { WakefulError } from '../error.ts'
import { includes } from './caller.ts'
import type { Health, ReadinessPorts } from './health/index.ts'
import { liveness, readiness } from './health/index.ts'
import type { Door } from './http/app.ts'
import type { HeaderReader } from './http/node-side.ts'
import { refusal } from './http/problem.ts'
import type { Metrics } from './metrics/index.ts'

/** What the routes for operators are made of. */
export interface OperationsParts {
  readonly readiness: ReadinessPorts
  readonly metrics: Metrics
  /** Who may read the metrics: those with a key, anyone, nobody. */
  readonly metricsFor: 'key' | 'open' | 'off'
  readonly door: Pick<Door, 'admit'>
  readonly newRequestId: () => string
}

const NO_STORE = { 'cache-control': 'no-store' }

/** Adds `/healthz`, `/readyz` and `/metrics`. They are neither logged nor counted: monitors ask all day long. */
export function addOperations(app: Hono, parts: OperationsParts): void {
  app.get('/healthz', () => healthResponse(liveness()))
  app.get('/readyz', async () => healthResponse(await readiness(parts.readiness)))
  if (parts.metricsFor === 'off') return
  app.get('/metrics', async ({ req }) => {
    try {
      if (parts.metricsFor === 'key') await assertMayRead(parts.door, req.raw.headers)
      const { contentType, body } = await parts.metrics.text()
      return new Response(body, { headers: { 'content-type': contentType, ...NO_STORE } })
    } catch (thrown) {
      return refusal(thrown, parts.newRequestId())
    }
  })
}

/** Figures are of all tenants: a key of one owner would tell him of the others' load. */
async function assertMayRead(door: Pick<Door, 'admit'>, headers: HeaderReader): Promise<void> {
  const { rights, key } = await door.admit(headers, 'rest')
  if (key === null || includes(rights, 'admin') || key.tenant === '*') return
  throw new WakefulError(
    'forbidden',
    'the metrics are of all tenants: they need a key with the right to admin, or one of tenant "*"',
  )
}

function healthResponse({ status, body }: Health): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...NO_STORE },
  })
}
