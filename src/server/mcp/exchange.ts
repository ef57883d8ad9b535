import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  type McpRequestContext,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { type McpInfo, mcpServer } from './protocol.ts'
import type { ToolBox } from './tool-box.ts'

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
  modern ??= createMcpHandler(serverOf, { legacy: 'reject', maxSubscriptions: 0 })
  exchanges.set(request, exchange)
  return await modern.fetch(request, { parsedBody: body })
}

function serverOf({ requestInfo }: McpRequestContext) {
  const { box, info } = exchanges.get(requestInfo!)!
  return mcpServer(box, info)
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
