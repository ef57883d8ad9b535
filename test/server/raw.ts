import { connect, type Socket } from 'node:net'

/** Everything that was received on a raw connection until it ended. */
export interface RawAnswer {
  readonly text: string
  readonly status: number
  /** The body of the first answer as JSON; undefined if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer.
  readonly json: any
  readonly durationMs: number
}

/** Opens a TCP connection. */
export function opened(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => resolve(socket))
    socket.once('error', reject)
  })
}

/** A server that has not begun to answer by then never will. */
const ANSWER_MS_MAX = 30_000

/**
 * Sends bytes unchanged, and returns what was received until the server closed the connection, or until it has sent
 * nothing for a while after its first byte.
 */
export async function raw(url: string, bytes: string | Buffer, quietMs = 500): Promise<RawAnswer> {
  const startedAt = performance.now()
  const socket = await opened(url)
  const chunks: Buffer[] = []
  const over = new Promise<void>((resolve) => {
    let enough = setTimeout(resolve, ANSWER_MS_MAX)
    const end = () => {
      clearTimeout(enough)
      resolve()
    }
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      clearTimeout(enough)
      enough = setTimeout(resolve, quietMs)
    })
    socket.once('close', end)
    socket.on('error', end)
  })
  socket.write(bytes)
  await over
  socket.destroy()
  const text = Buffer.concat(chunks).toString()
  return { ...read(text), text, durationMs: performance.now() - startedAt }
}

function read(text: string): { status: number; json: unknown } {
  const [head = '', rest = ''] = [
    text.slice(0, text.indexOf('\r\n\r\n')),
    text.slice(text.indexOf('\r\n\r\n') + 4),
  ]
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0)
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
  try {
    return { status, json: JSON.parse(Buffer.from(rest).subarray(0, length).toString()) }
  } catch {
    return { status, json: undefined }
  }
}
