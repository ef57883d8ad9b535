import type { Readable } from 'node:stream'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { type LineSink, LineTransport } from './line-transport.ts'
import { type McpInfo, mcpServer } from './protocol.ts'
import type { ToolBox } from './tool-box.ts'

/** What MCP over stdio needs. */
export interface StdioParts {
  readonly input: Readable
  readonly output: LineSink
  readonly box: ToolBox
  readonly info: McpInfo
  /** Ends it. */
  readonly signal: AbortSignal
}

/** Serves the tools to the client at the other end, until it disconnects or the signal is aborted. */
export async function serveLines({ input, output, box, info, signal }: StdioParts): Promise<void> {
  const transport = new LineTransport(input, output)
  const handle = serveStdio(() => mcpServer(box, info), { transport })
  const close = () => void handle.close()
  if (signal.aborted) close()
  else signal.addEventListener('abort', close, { once: true })
  await transport.closed
}
