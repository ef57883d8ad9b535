import type { Readable } from 'node:stream'
import type { JSONRPCMessage, MessageExtraInfo, Transport } from '@modelcontextprotocol/server'
import { MCP_VERBATIM } from '../../contracts/index.ts'
import { errorText } from '../../error.ts'
import { readJson } from '../../json/index.ts'
import type { McpInfo } from './protocol.ts'
import type { ToolBox } from './tool-box.ts'

interface LineSink {
  write(text: string, done?: () => void): unknown
}

interface StdioParts {
  readonly input: Readable
  readonly output: LineSink
  readonly box: ToolBox
  readonly info: McpInfo
  readonly signal: AbortSignal
}

const LINE_CHARS_MAX = 2 * 1024 * 1024
const PARSE_ERROR = -32700
const INVALID_REQUEST = -32600

/** Serves the tools to the client at the other end, until it disconnects or the signal is aborted. */
export async function serveTools({ input, output, box, info, signal }: StdioParts): Promise<void> {
  // The protocol's library is loaded here, so that other commands start faster.
  const { serveStdio } = await import('@modelcontextprotocol/server/stdio')
  const { mcpServer } = await import('./protocol.ts')
  const transport = new LineTransport(input, output)
  const handle = serveStdio(() => mcpServer(box, info), { transport })
  const close = () => void handle.close()
  if (signal.aborted) close()
  else signal.addEventListener('abort', close, { once: true })
  await transport.closed
}

/**
 * MCP over stdio: one message per line. The protocol's own transport parses payloads and loses digits beyond 2^53. This
 * one reads them as REST does (promise: verbatim), and answers a line that is not a message instead of ignoring it.
 */
class LineTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: <T extends JSONRPCMessage>(message: T, extra?: MessageExtraInfo) => void
  /** Resolves when either side has closed it. */
  readonly closed: Promise<void>
  readonly #ended = Promise.withResolvers<void>()
  readonly #input: Readable
  readonly #output: LineSink
  #text = ''
  /** Within a line that is too long. */
  #isSkipping = false
  #isClosed = false

  constructor(input: Readable, output: LineSink) {
    this.closed = this.#ended.promise
    this.#input = input
    this.#output = output
  }

  start(): Promise<void> {
    this.#input.setEncoding('utf8')
    this.#input.on('data', this.#read).on('end', this.#end).on('close', this.#end).on('error', this.#end)
    return Promise.resolve()
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    return new Promise((resolve) => {
      this.#output.write(`${JSON.stringify(message)}\n`, () => resolve())
    })
  }

  close(): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    this.#isClosed = true
    this.#input.off('data', this.#read).off('end', this.#end).off('close', this.#end).off('error', this.#end)
    this.#input.pause()
    this.onclose?.()
    this.#ended.resolve()
    return Promise.resolve()
  }

  readonly #end = (): void => void this.close()

  readonly #read = (chunk: string): void => {
    const lines = chunk.split('\n')
    for (const [at, part] of lines.entries()) {
      if (!this.#isSkipping) this.#text += part
      const isWhole = at < lines.length - 1
      if (this.#text.length > LINE_CHARS_MAX) {
        this.#text = ''
        this.#isSkipping = true
        this.#refuse(INVALID_REQUEST, `a message has at most ${LINE_CHARS_MAX} characters`)
      }
      if (!isWhole) continue
      const line = this.#text
      this.#text = ''
      this.#isSkipping = false
      if (line.trim() !== '') this.#line(line)
    }
  }

  #line(line: string): void {
    let message: unknown
    try {
      message = readJson(line, MCP_VERBATIM, { what: 'message' })
    } catch (thrown) {
      this.#refuse(PARSE_ERROR, errorText(thrown))
      return
    }
    if (isMessage(message)) this.onmessage?.(message)
    else this.#refuse(INVALID_REQUEST, 'a line must be a message of JSON-RPC 2.0')
  }

  #refuse(code: number, message: string): void {
    this.#output.write(`${JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } })}\n`)
  }
}

/** Whether it is a message at all. Its content is checked by the protocol's library. */
function isMessage(value: unknown): value is JSONRPCMessage {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const { jsonrpc, id, method } = value as Record<string, unknown>
  const hasId = typeof id === 'string' || typeof id === 'number'
  if (jsonrpc !== '2.0' || (id !== undefined && !hasId)) return false
  return (
    typeof method === 'string' || (hasId && method === undefined && ('result' in value || 'error' in value))
  )
}
