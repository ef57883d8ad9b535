import type { Context, Hono } from 'hono'
import { MCP_VERBATIM } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import type { Caller } from '../auth/index.ts'
import { readBody, refusal, requestId, traceOf } from '../http/index.ts'
import { whileAdmitted } from '../limits/index.ts'
import type { Answered } from '../observability/index.ts'
import type { AppParts } from '../rest/index.ts'
import type { Exchange } from './exchange.ts'
import { refusalResult } from './refusal.ts'
import { type ToolBox, type ToolCall, toolBox } from './tool-box.ts'

/** Where the tools are. */
const MCP_PATH = '/mcp'

/** Over the network nobody has a zone of their own. */
const ZONE = 'UTC'

/** What MCP over HTTP is made of, beside what every call is. */
export interface McpParts extends AppParts {
  readonly version: string
  readonly now: () => number
}

/**
 * MCP over streamable HTTP. Every request stands for itself: it brings its key, is let in at the same gate as REST, and any
 * process behind a load balancer can answer it.
 */
export function mountMcp(app: Hono, parts: McpParts): void {
  // Loaded when somebody asks for it: most processes of the command line never do.
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
  exchange: (given: Exchange) => Promise<Response>,
): Promise<Response> {
  const startedAt = parts.monotonic()
  const request = c.req.raw
  const known: { caller: Caller | null; trouble: unknown } = { caller: null, trouble: null }
  try {
    const caller = await parts.authenticator.admit(request.headers, 'mcp')
    known.caller = caller
    const body = await readBody(c, parts.bodyBytesMax, MCP_VERBATIM)
    if (body === undefined)
      throw new WakefulError('invalid_request', 'the body is missing: it is a message of JSON-RPC')
    const response = await exchange({
      request,
      body,
      info: { version: parts.version, zone: ZONE },
      box: boxFor(parts, request, caller, (thrown) => {
        known.trouble = thrown
      }),
    })
    return told(parts, c, response, known, startedAt)
  } catch (thrown) {
    return refused(parts, c, thrown, known.caller, startedAt)
  }
}

/** The tools as this caller may use them, for as long as they are let in. */
function boxFor(
  parts: McpParts,
  request: Request,
  caller: Caller,
  onTrouble: (thrown: unknown) => void,
): ToolBox {
  const trace = traceOf(request.headers.get('traceparent'))
  const box = toolBox(
    ({ signal, traceparent = trace.traceparent }) => {
      const around = { caller, signal, ...(traceparent !== undefined && { traceparent }) }
      return { calls: parts.calls, around, now: parts.now }
    },
    { zone: ZONE, onTrouble },
  )
  const admit = async () => parts.authenticator.admit(request.headers, 'mcp')
  return {
    ...box,
    call: async (name: string, args: unknown, given: ToolCall) => {
      const either = AbortSignal.any([given.signal, request.signal])
      try {
        return await whileAdmitted(admit, either, (signal) => box.call(name, args, { ...given, signal }))
      } catch (thrown) {
        return refusalResult(thrown)
      }
    },
  }
}

function told(
  parts: McpParts,
  c: Context,
  response: Response,
  { caller, trouble }: { caller: Caller | null; trouble: unknown },
  startedAt: number,
): Response {
  const id = idOf(parts, c)
  const { status } = response
  const answered: Answered = {
    method: c.req.method,
    route: MCP_PATH,
    status,
    requestId: id,
    caller,
    thrown: trouble,
  }
  parts.onAnswered(answered, startedAt)
  const headers = new Headers(response.headers)
  headers.set('x-request-id', id)
  headers.set('cache-control', 'no-store')
  return new Response(response.body, { status, headers })
}

function refused(
  parts: McpParts,
  c: Context,
  thrown: unknown,
  caller: Caller | null,
  startedAt: number,
  status?: number,
): Response {
  const id = idOf(parts, c)
  const response = refusal(thrown, id, status)
  const known = { method: c.req.method, route: MCP_PATH, status: response.status, requestId: id, caller }
  parts.onAnswered({ ...known, thrown: response.status >= 500 ? thrown : null }, startedAt)
  return response
}

function idOf(parts: McpParts, c: Context): string {
  return requestId(c.req.raw.headers.get('x-request-id'), parts.newRequestId)
}

/** There is no stream to open and no session to end. */
function refuseMethod(parts: McpParts, c: Context): Response {
  const thrown = new WakefulError(
    'not_found',
    `${MCP_PATH} has no ${c.req.method}: messages are sent to it by POST`,
  )
  const response = refused(parts, c, thrown, null, parts.monotonic(), 405)
  response.headers.set('allow', 'POST')
  return response
}
