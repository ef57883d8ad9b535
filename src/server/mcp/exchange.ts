import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  type McpRequestContext,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { type McpInfo, mcpServer } from './protocol.ts'
import type { ToolBox } from './tool-box.ts'

/** One request of MCP over HTTP, let in and read. */
export interface Exchange {
  readonly request: Request
  /** The message, its payloads kept as they are. */
  readonly body: unknown
  readonly box: ToolBox
  readonly info: McpInfo
}

/** Whose request is being answered; the protocol's own entry knows only the request. */
const exchanges = new WeakMap<Request, Exchange>()
let modern: McpHttpHandler | undefined

/** Answers one request, of clients old and new, with JSON: nothing is kept between two of them. */
export async function answerExchange(exchange: Exchange): Promise<Response> {
  const { request, body } = exchange
  if (await isLegacyRequest(request, body)) return legacy(exchange)
  // Nothing is ever announced, so that there is nothing to subscribe to.
  modern ??= createMcpHandler(serverOf, { legacy: 'reject', maxSubscriptions: 0 })
  exchanges.set(request, exchange)
  return await modern.fetch(request, { parsedBody: body })
}

function serverOf({ requestInfo }: McpRequestContext) {
  const { box, info } = exchanges.get(requestInfo!)!
  return mcpServer(box, info)
}

/** Clients of the protocol before 2026-07-28: each message by a server of its own. */
async function legacy({ request, body, box, info }: Exchange): Promise<Response> {
  const server = mcpServer(box, info)
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  const gone = Promise.withResolvers<Response>()
  const leave = () => gone.resolve(new Response(null, { status: 499 }))
  request.signal.addEventListener('abort', leave, { once: true })
  try {
    return await Promise.race([transport.handleRequest(request, { parsedBody: body }), gone.promise])
  } finally {
    request.signal.removeEventListener('abort', leave)
    await server.close()
  }
}
