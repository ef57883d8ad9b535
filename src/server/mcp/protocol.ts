import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { mcpIssues } from '../../errors/index.ts'
import { assertPlainNames, traceOf } from '../http/index.ts'
import { refusalResult } from './tool.ts'
import { instructions, TOOLS, type ToolBox, UNKNOWN_TOOL } from './tool-box.ts'

/** What the server tells its clients about itself. */
export interface McpInfo {
  readonly version: string
  /** The zone of times that name none. */
  readonly zone: string
}

/** A server of the protocol with these tools: one per request over HTTP, one per connection over stdio. */
export function mcpServer(box: ToolBox, { version, zone }: McpInfo): Server {
  const server = new McpServer(
    { name: 'wakeful', title: 'Wakeful: durable alarms', version },
    { capabilities: { tools: {} }, instructions: instructions(zone) },
  )
  server.setRequestHandler('tools/list', async () => ({ tools: await box.list() }))
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const call = { signal: mcpReq.signal, ...traceOf(mcpReq._meta?.traceparent) }
    const result = await box.call(params.name, params.arguments ?? {}, call)
    if (result !== null) return result
    const name = JSON.stringify(params.name.slice(0, 60))
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `There is no tool ${name}. Known: ${TOOLS.map((tool) => tool.name).join(', ')}.`,
      { reason: UNKNOWN_TOOL },
    )
  })
  return server
}

type Handler = Parameters<Server['_wrapHandler']>[1]

/** The protocol's server, with error messages that say what is wrong with a request. */
class McpServer extends Server {
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const wrapped = super._wrapHandler(method, handler)
    return async (request, context) => {
      try {
        // Checked first: the protocol's own parser ignores this one name.
        if (method === 'tools/call') assertPlainNames(request.params?.arguments)
      } catch (thrown) {
        return refusalResult(thrown)
      }
      try {
        return await wrapped(request, context)
      } catch (thrown) {
        throw readable(method, thrown)
      }
    }
  }
}

/** The protocol's library reports an invalid message as a dump of issues, and as an error of the server. */
function readable(method: string, thrown: unknown): unknown {
  const issues = thrown instanceof Error ? mcpIssues(thrown.message) : null
  if (issues === null) return thrown
  const problems = issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `${method}: ${problems.join('; ')}`)
}

/** One request of MCP over HTTP, authenticated and parsed. */
export interface Exchange {
  readonly request: Request
  /** The message, with payloads kept as text. */
  readonly body: unknown
  readonly box: ToolBox
  readonly info: McpInfo
}

/** The exchange of each request: the protocol's own entry point passes on only the request. */
const exchanges = new WeakMap<Request, Exchange>()
let modern: McpHttpHandler | undefined

/** Answers one request with JSON, for old and new clients. Nothing is kept between two requests. */
export async function answerExchange(exchange: Exchange): Promise<Response> {
  const { request, body } = exchange
  if (await isLegacyRequest(request, body)) return legacy(exchange)
  // The server sends no notifications, so there is nothing to subscribe to.
  modern ??= createMcpHandler(
    ({ requestInfo }) => {
      const { box, info } = exchanges.get(requestInfo!)!
      return mcpServer(box, info)
    },
    { legacy: 'reject', maxSubscriptions: 0 },
  )
  exchanges.set(request, exchange)
  return await modern.fetch(request, { parsedBody: body })
}

/** For clients of the protocol before 2026-07-28: a new server for each message. */
async function legacy({ request, body, box, info }: Exchange): Promise<Response> {
  const server = mcpServer(box, info)
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  const aborted = Promise.withResolvers<Response>()
  const abort = () => aborted.resolve(new Response(null, { status: 499 }))
  request.signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([transport.handleRequest(request, { parsedBody: body }), aborted.promise])
  } finally {
    request.signal.removeEventListener('abort', abort)
    await server.close()
  }
}
