import { randomUUID } from 'node:crypto'
import type { Wakeful } from '../library/index.ts'
import { buildApp } from './http/app.ts'
import { Listener } from './listener.ts'
import { localDoor } from './local-door.ts'
import { openApi } from './openapi.ts'

/** What a server is made of. */
export interface ServerOptions {
  readonly wakeful: Wakeful
  readonly host: string
  readonly port: number
  readonly version: string
  readonly bodyBytesMax?: number
  /** Origins whose pages may call, as a browser names them: `https://app.example.com`. */
  readonly allowedOrigins?: readonly string[]
  /** How long requests under way may take once the server is to close. */
  readonly drainMs?: number
  readonly onTrouble: (thrown: unknown) => void
}

const BODY_BYTES_MAX = 1024 * 1024
const DRAIN_MS = 10_000

/** A server that is listening. */
export interface Server {
  readonly url: string
  close(): Promise<void>
}

/** Listens, and answers calls about the alarms of this Wakeful. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { wakeful, onTrouble } = options
  const { clock } = wakeful.operator
  const allowedOrigins = new Set(options.allowedOrigins)
  const app = buildApp({
    door: localDoor((tenant, owner) => wakeful.forTenant(tenant, owner), allowedOrigins),
    allowedOrigins,
    bodyBytesMax: options.bodyBytesMax ?? BODY_BYTES_MAX,
    newRequestId: randomUUID,
    monotonic: () => clock.monotonic(),
    onAnswered: ({ thrown }) => {
      if (thrown !== null) onTrouble(thrown)
    },
  })
  const document = JSON.stringify(openApi(options.version))
  app.get('/openapi.json', (c) =>
    c.body(document, 200, { 'content-type': 'application/json; charset=utf-8' }),
  )
  const listener = await Listener.listen({
    host: options.host,
    port: options.port,
    fetch: app.fetch as never,
  })
  return { url: listener.url, close: () => listener.close(options.drainMs ?? DRAIN_MS) }
}
