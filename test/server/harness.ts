import { type OpenOptions, open, type Wakeful } from '../../src/index.ts'
import { Log, PauseControl, type ServerOptions, startServer } from '../../src/server/index.ts'
import { afterwards } from '../afterwards.ts'

/** The answer to a call, with its body as text and parsed. */
export interface Called {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer.
  readonly json: any
}

/** A server under test. */
export interface Serving {
  readonly url: string
  readonly wakeful: Wakeful
  readonly errors: unknown[]
  /** What the server has logged. */
  readonly lines: string[]
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Called>
  close(): Promise<void>
}

/** Starts a real server on a store in memory, or on the named one; it is closed after the test or the file that asks for it. */
export async function serving(
  options: { store?: string; open?: OpenOptions; server?: Partial<ServerOptions> } = {},
): Promise<Serving> {
  const errors: unknown[] = []
  const onError = (thrown: unknown) => void errors.push(thrown)
  const lines: string[] = []
  const pauseControl = new PauseControl()
  const wakeful = await open(options.store ?? 'sqlite::memory:', {
    timezone: 'UTC',
    onError,
    pauses: pauseControl,
    deliveryLimits: pauseControl,
    ...options.open,
  })
  const server = await startServer({
    wakeful,
    host: '127.0.0.1',
    port: 0,
    version: '0.0.0',
    log: new Log({ level: 'debug', format: 'json', write: (line) => lines.push(line), now: () => 0, pid: 0 }),
    pauses: pauseControl,
    ...options.server,
  })
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= server.close().then(() => wakeful.close())
    return closing
  }
  afterwards(close)
  return { url: server.url, wakeful, errors, lines, call: caller(server.url), close }
}

/** Calls a server as a client would; texts and bytes are sent unchanged. */
export function caller(url: string, always: Record<string, string> = {}): Serving['call'] {
  return async (method, path, body, headers = {}) => {
    const isRaw = typeof body === 'string' || body instanceof Uint8Array
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...always,
        ...headers,
      },
      ...(body !== undefined && { body: isRaw ? (body as string) : JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, json: parsed(text) }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
