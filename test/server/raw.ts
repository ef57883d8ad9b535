import { connect, type Socket } from 'node:net'

/** What a raw connection came to: all that was sent back until it ended. */
export interface RawAnswer {
  readonly text: string
  readonly status: number
  /** The body of the first answer, read as JSON; undefined where it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was answered.
  readonly json: any
  readonly durationMs: number
}

/** Opens a connection of bare bytes. */
export function opened(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => resolve(socket))
    socket.once('error', reject)
  })
}

/** Sends bytes as they are, and answers with what came back until the server hung up, or for so long. */
export async function raw(url: string, bytes: string | Buffer, waitMs = 1_000): Promise<RawAnswer> {
  const startedAt = performance.now()
  const socket = await opened(url)
  const chunks: Buffer[] = []
  const over = new Promise<void>((resolve) => {
    const enough = setTimeout(resolve, waitMs)
    const end = () => {
      clearTimeout(enough)
      resolve()
    }
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
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
