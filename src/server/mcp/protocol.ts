import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import { assertPlainNames, lowered, traceOf } from '../http/index.ts'
import { instructions } from './instructions.ts'
import { refusalResult } from './refusal.ts'
import { TOOLS, type ToolBox } from './tool-box.ts'

/** What a client is told of the server. */
export interface McpInfo {
  readonly version: string
  /** The zone in which times are read that name none. */
  readonly zone: string
}

/** A server of the protocol around the tools: one per request over HTTP, one per connection over stdio. */
export function mcpServer(box: ToolBox, { version, zone }: McpInfo): Server {
  const server = new PlainServer(
    { name: 'wakeful', title: 'Wakeful: durable alarms', version },
    { capabilities: { tools: {} }, instructions: instructions(zone) },
  )
  server.setRequestHandler('tools/list', async () => ({ tools: await box.list() }))
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const given = { signal: mcpReq.signal, ...traceOf(mcpReq._meta?.traceparent) }
    const result = await box.call(params.name, params.arguments ?? {}, given)
    if (result !== null) return result
    const name = JSON.stringify(params.name.slice(0, 60))
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `there is no tool ${name}; there are ${TOOLS.map((tool) => tool.name).join(', ')}`,
    )
  })
  return server
}

type Handler = Parameters<Server['_wrapHandler']>[1]

/** The protocol's server, which sees messages as they came and tells in words what is wrong with them. */
class PlainServer extends Server {
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const wrapped = super._wrapHandler(method, handler)
    return async (request, context) => {
      try {
        // Looked at before the protocol's own reading, which passes over this one name.
        if (method === 'tools/call') assertPlainNames(request.params?.arguments)
      } catch (thrown) {
        return refusalResult(thrown)
      }
      try {
        return await wrapped(request, context)
      } catch (thrown) {
        throw inWords(method, thrown)
      }
    }
  }
}

interface Issue {
  readonly path: readonly (string | number)[]
  readonly message: string
}

/** The protocol's library tells what is wrong with a message as a dump, and takes it for a fault of the server. */
function inWords(method: string, thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return thrown
  try {
    const issues = JSON.parse(thrown.message.slice(thrown.message.indexOf('['))) as Issue[]
    const said = issues.map(({ path, message }) => `${path.join('.')}: ${lowered(message)}`)
    return new ProtocolError(ProtocolErrorCode.InvalidParams, `${method}: ${said.join('; ')}`)
  } catch {
    return thrown
  }
}
