import type { Context, Hono } from 'hono'
import { MCP_VERBATIM } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import type { Caller } from '../auth/index.ts'
import { headersOf, readBody, requestId, traceOf } from '../http/index.ts'
import { type AppParts, refuse, refuseMethod } from '../rest/index.ts'
import type { Exchange } from './protocol.ts'
import { type ToolBox, toolBox } from './tool-box.ts'

const MCP_PATH = '/mcp'

/** Callers over the network have no zone of their own. */
const ZONE = 'UTC'

/**
 * MCP over streamable HTTP. Every request is independent: it has its own key, is authenticated as over REST, and can be
 * answered by any process behind a load balancer.
 */
export function mountMcp(app: Hono, parts: AppParts, version: string): void {
  // Loaded on first use: most processes of the command line never need it.
  let loading: Promise<typeof import('./protocol.ts')> | undefined
  const load = () => {
    loading ??= import('./protocol.ts')
    return loading
  }
  const info = { version, zone: ZONE }
  app.post(MCP_PATH, (c) =>
    answer(parts, c, async (exchange) => (await load()).answerExchange({ ...exchange, info })),
  )
  // There is no stream to open and no session to end.
  app.all(MCP_PATH, (c) => refuseMethod(parts, c, MCP_PATH, ['POST']))
}

async function answer(
  parts: AppParts,
  c: Context,
  exchange: (exchange: Omit<Exchange, 'info'>) => Promise<Response>,
): Promise<Response> {
  const request = c.req.raw
  const startedAt = parts.clock.monotonic()
  let caller: Caller | null = null
  try {
    caller = await parts.authenticator.admit(request.headers, 'mcp')
    const body = await readBody(c, parts.bodyBytesMax, MCP_VERBATIM)
    if (body === undefined) throw new WakefulError('body.missing', { expected: 'a JSON-RPC message' })
    /** An error of the server, though the protocol answers with 200. */
    let error: unknown = null
    const box = toolsFor(parts, request, caller, (thrown) => {
      error = thrown
    })
    const response = await exchange({ request, body, box })
    const { status } = response
    const id = requestId(headersOf(c))
    const { method } = c.req
    parts.onAnswered({ method, route: MCP_PATH, status, requestId: id, caller, thrown: error }, startedAt)
    const headers = new Headers(response.headers)
    headers.set('x-request-id', id)
    headers.set('cache-control', 'no-store')
    return new Response(response.body, { status, headers })
  } catch (thrown) {
    return refuse(parts, c, thrown, { route: MCP_PATH, caller, startedAt })
  }
}

function toolsFor(
  parts: AppParts,
  request: Request,
  caller: Caller,
  onError: (thrown: unknown) => void,
): ToolBox {
  const trace = traceOf(request.headers.get('traceparent'))
  return toolBox(
    ({ signal, traceparent = trace.traceparent }) => {
      const either = AbortSignal.any([signal, request.signal])
      const context = { caller, signal: either, ...(traceparent !== undefined && { traceparent }) }
      return { calls: parts.calls, context, now: () => parts.clock.now(), zone: ZONE }
    },
    { zone: ZONE, onError },
  )
}
