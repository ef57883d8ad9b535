import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** When a connection is frozen: at a request, at its answer, at the answer to a commit; or at once, if it listens. */
export type FreezeAt = 'request' | 'answer' | 'commit' | 'listener'

interface Link {
  readonly client: Socket
  readonly server: Socket
  listens: boolean
  frozen: boolean
}

/** A TCP proxy before PostgreSQL that can make connections half open: it stops forwarding and closes nothing. */
export class Wire {
  readonly #target: number
  readonly #server: Server
  readonly #links = new Set<Link>()
  #armed: { readonly at: FreezeAt; readonly hit: () => void } | null = null
  #isSevered = false

  private constructor(target: number) {
    this.#target = target
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#accept(client))
  }

  static async start(target: number): Promise<Wire> {
    const wire = new Wire(target)
    wire.#server.listen(0, '127.0.0.1')
    await once(wire.#server, 'listening')
    return wire
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port
  }

  /** Freezes the next connection that does this. Returns whether one did in time. */
  async freezeNext(at: FreezeAt, withinMs: number): Promise<boolean> {
    if (at === 'listener') return this.#freezeListener()
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const timer = setTimeout(() => resolve(false), withinMs)
    this.#armed = { at, hit: () => resolve(true) }
    const isHit = await promise
    clearTimeout(timer)
    this.#armed = null
    return isHit
  }

  /** Makes all connections half open, including new ones: a network that is gone. */
  sever(): void {
    this.#isSevered = true
    for (const link of this.#links) link.frozen = true
  }

  close(): void {
    this.#server.close()
    for (const { client, server } of this.#links) {
      client.destroy()
      server.destroy()
    }
  }

  #freezeListener(): boolean {
    const link = [...this.#links].find(({ listens, frozen }) => listens && !frozen)
    if (link === undefined) return false
    link.frozen = true
    return true
  }

  #accept(client: Socket): void {
    const server = connect({ port: this.#target, host: '127.0.0.1', allowHalfOpen: true })
    const link: Link = { client, server, listens: false, frozen: this.#isSevered }
    this.#links.add(link)
    client.on('data', (data: Buffer) => this.#forward(link, data, 'request'))
    server.on('data', (data: Buffer) => this.#forward(link, data, 'answer'))
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.setNoDelay(true)
      from.on('error', () => {})
      // Neither side of a half-open connection learns that the other is gone.
      from.on('end', () => !link.frozen && to.end())
      from.on('close', () => {
        if (!link.frozen) to.destroy()
        if (client.destroyed && server.destroyed) this.#links.delete(link)
      })
    }
  }

  #forward(link: Link, data: Buffer, kind: 'request' | 'answer'): void {
    if (link.frozen) return
    if (kind === 'request' && data.includes('LISTEN "')) link.listens = true
    if (this.#armed !== null && !link.listens && isAt(this.#armed.at, kind, data)) {
      link.frozen = true
      this.#armed.hit()
      this.#armed = null
      return
    }
    ;(kind === 'request' ? link.server : link.client).write(data)
  }
}

/** The server's message for being in no transaction. */
const IDLE = 'Z\0\0\0\u0005I'

function isAt(at: FreezeAt, kind: 'request' | 'answer', data: Buffer): boolean {
  return at === 'commit' ? kind === 'answer' && isCommitAnswer(data) : at === kind
}

/** A single statement that writes is its own transaction. */
function isCommitAnswer(data: Buffer): boolean {
  return data.includes('COMMIT\0') || (data.includes('INSERT 0 ') && data.includes(IDLE))
}
