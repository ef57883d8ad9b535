import type { Context, Hono } from 'hono'
import { MCP_VERBATIM } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import type { Caller } from '../auth/index.ts'
import { problemOf, readBody, refusal, requestId, traceOf } from '../http/index.ts'
import type { AppParts } from '../rest/index.ts'
import type { Exchange } from './exchange.ts'
import { type ToolBox, toolBox } from './tool-box.ts'

const MCP_PATH = '/mcp'

/** Callers over the network have no zone of their own. */
const ZONE = 'UTC'

/** What MCP over HTTP needs besides what every HTTP interface does. */
export interface McpParts extends AppParts {
  readonly version: string
  readonly now: () => number
}

/** What is known of a request before it is answered. */
interface Known {
  readonly startedAt: number
  caller: Caller | null
  /** An error of the server, though the protocol answers with 200. */
  error: unknown
}

/**
 * MCP over streamable HTTP. Every request is independent: it has its own key, is authenticated as over REST, and can be
 * answered by any process behind a load balancer.
 */
export function mountMcp(app: Hono, parts: McpParts): void {
  // Loaded on first use: most processes of the command line never need it.
  let loading: Promise<typeof import('./exchange.ts')> | undefined
  const load = () => {
    loading ??= import('./exchange.ts')
    return loading
  }
  app.post(MCP_PATH, (c) => answer(parts, c, async (exchange) => (await load()).answerExchange(exchange)))
  app.all(MCP_PATH, (c) => refuseMethod(parts, c))
}

async function answer(
  parts: McpParts,
  c: Context,
  exchange: (exchange: Exchange) => Promise<Response>,
): Promise<Response> {
  const request = c.req.raw
  const known: Known = { startedAt: parts.clock.monotonic(), caller: null, error: null }
  try {
    known.caller = await parts.authenticator.admit(request.headers, 'mcp')
    const body = await readBody(c, parts.bodyBytesMax, MCP_VERBATIM)
    if (body === undefined) throw new WakefulError('body.missing', { expected: 'a JSON-RPC message' })
    const response = await exchange({
      request,
      body,
      info: { version: parts.version, zone: ZONE },
      box: toolsFor(parts, request, known.caller, (thrown) => {
        known.error = thrown
      }),
    })
    return completed(parts, c, response, known)
  } catch (thrown) {
    return refuse(parts, c, thrown, known)
  }
}

/** The tools as this caller may use them. */
function toolsFor(
  parts: McpParts,
  request: Request,
  caller: Caller,
  onError: (thrown: unknown) => void,
): ToolBox {
  const trace = traceOf(request.headers.get('traceparent'))
  return toolBox(
    ({ signal, traceparent = trace.traceparent }) => {
      const either = AbortSignal.any([signal, request.signal])
      const context = { caller, signal: either, ...(traceparent !== undefined && { traceparent }) }
      return { calls: parts.calls, context, now: parts.now }
    },
    { zone: ZONE, onError },
  )
}

/** The response of the protocol, with our headers. */
function completed(parts: McpParts, c: Context, response: Response, known: Known): Response {
  const { status } = response
  const id = answered(parts, c, status, known.error, known)
  const headers = new Headers(response.headers)
  headers.set('x-request-id', id)
  headers.set('cache-control', 'no-store')
  return new Response(response.body, { status, headers })
}

function refuse(parts: McpParts, c: Context, thrown: unknown, known: Known, status?: number): Response {
  const problem = problemOf(thrown)
  const id = answered(parts, c, status ?? problem.status, problem.status >= 500 ? thrown : null, known)
  return refusal(thrown, id, status)
}

/** Reports a request as answered, and returns its id. */
function answered(
  parts: McpParts,
  c: Context,
  status: number,
  thrown: unknown,
  { caller, startedAt }: Known,
): string {
  const id = requestId(c.req.raw.headers, parts.newRequestId)
  parts.onAnswered(
    { method: c.req.method, route: MCP_PATH, status, requestId: id, caller, thrown },
    startedAt,
  )
  return id
}

/** There is no stream to open and no session to end. */
function refuseMethod(parts: McpParts, c: Context): Response {
  const thrown = new WakefulError('request.no_such_method', {
    path: MCP_PATH,
    method: c.req.method,
    methods: ['POST'],
  })
  const known = { startedAt: parts.clock.monotonic(), caller: null, error: null }
  const response = refuse(parts, c, thrown, known, 405)
  response.headers.set('allow', 'POST')
  return response
}
