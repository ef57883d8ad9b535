import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import { mcpIssues } from '../../errors/index.ts'
import { assertPlainNames, traceOf } from '../http/index.ts'
import { refusalResult } from './refusal.ts'
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
