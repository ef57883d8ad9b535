import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import { traceOf } from '../trace.ts'
import { instructions } from './instructions.ts'
import { TOOLS, type ToolBox } from './tool-box.ts'

/** What a client is told of the server. */
export interface McpInfo {
  readonly version: string
  /** The zone in which times are read that name none. */
  readonly zone: string
}

/** A server of the protocol around the tools: one per request over HTTP, one per connection over stdio. */
export function mcpServer(box: ToolBox, { version, zone }: McpInfo): Server {
  const server = new Server(
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
