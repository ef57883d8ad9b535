import type { Readable } from 'node:stream'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { type LineSink, LineTransport } from './line-transport.ts'
import { type McpInfo, mcpServer } from './protocol.ts'
import type { ToolBox } from './tool-box.ts'

/** What MCP over stdio is made of. */
export interface StdioParts {
  readonly input: Readable
  readonly output: LineSink
  readonly box: ToolBox
  readonly info: McpInfo
  /** The end was asked for. */
  readonly signal: AbortSignal
}

/** Serves the tools to the one client at the other end, until it leaves or the end is asked for. */
export async function serveLines({ input, output, box, info, signal }: StdioParts): Promise<void> {
  const transport = new LineTransport(input, output)
  const handle = serveStdio(() => mcpServer(box, info), { transport })
  const leave = () => void handle.close()
  if (signal.aborted) leave()
  else signal.addEventListener('abort', leave, { once: true })
  await transport.closed
}
