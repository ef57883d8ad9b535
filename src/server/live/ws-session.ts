import type { WebSocket } from 'ws'
import { eventWire, WS_VERBATIM } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import { unknownWireField } from '../../errors/index.ts'
import { readJson } from '../../json/index.ts'
import type { Caller } from '../auth/index.ts'
import { problemOf } from '../http/index.ts'
import { type ByteBudget, CallQueue, RateLimiter, SendBuffer } from '../limits/index.ts'
import { type EventFeed, type EventFeedOptions, openFeed } from './event-feed.ts'
import type { LiveParts } from './live.ts'
import type { WsCalls } from './ws-calls.ts'

/** What the session of one connection is made of. */
export interface WsSessionParts extends LiveParts {
  readonly socket: WebSocket
  readonly caller: Caller
  readonly calls: WsCalls
  /** What waits for the readers of all WebSockets. */
  readonly unread: ByteBudget<SendBuffer>
}

const CONCURRENT_CALLS_MAX = 16
const SUBSCRIPTIONS_MAX = 16
/** How long a peer may take to answer a close frame. */
const CLOSE_MS = 2_000

/** Close codes (RFC 6455 and IANA's registry). */
const GOING_AWAY = 1001
const NOT_TEXT = 1003
const POLICY_VIOLATION = 1008
const TRY_LATER = 1013

interface Message {
  readonly id: string | number | null
  readonly call: string
  readonly args: Readonly<Record<string, unknown>>
}

/** One connection: its calls, its subscriptions, and what bounds them. */
export class WsSession {
  readonly #parts: WsSessionParts
  readonly #buffer: SendBuffer
  readonly #rate: RateLimiter
  readonly #abort = new AbortController()
  readonly #feeds = new Map<string, EventFeed>()
  readonly #calls: CallQueue
  #subscriptions = 0
  #subscribing = 0
  #isAlive = true
  #remove: () => void = () => {}
  #cancelHeartbeat: () => void = () => {}

  constructor(parts: WsSessionParts) {
    const { socket, clock, messageBytesMax, bufferBytesMax, stallMs, unread } = parts
    this.#parts = parts
    this.#calls = new CallQueue(CONCURRENT_CALLS_MAX, messageBytesMax)
    this.#rate = new RateLimiter(clock)
    this.#buffer = new SendBuffer({ socket, clock, bytesMax: bufferBytesMax, stallMs, budget: unread }, () =>
      this.#close(TRY_LATER, 'you read too slowly: resume from your last cursor'),
    )
    socket.on('close', () => {
      this.#buffer.closed()
      this.#end()
    })
    // An error also closes the socket.
    socket.on('error', () => {})
    socket.on('pong', () => {
      this.#isAlive = true
    })
    socket.on('ping', (data) => this.#buffer.pong(data))
    socket.on('message', (data, isBinary) => this.#receive(data as Buffer, isBinary))
  }

  /** Counts it as open; throws if there are too many. */
  start(): void {
    const { connections, caller } = this.#parts
    this.#remove = connections.add({
      kind: 'ws',
      caller,
      end: (reason) =>
        reason === 'closing'
          ? this.#close(GOING_AWAY, 'the server is closing: connect again')
          : this.#close(POLICY_VIOLATION, 'the key is no longer valid'),
    })
    this.#heartbeat()
  }

  #receive(data: Buffer, isBinary: boolean): void {
    const { socket } = this.#parts
    if (socket.readyState !== socket.OPEN) return
    this.#isAlive = true
    if (isBinary) {
      this.#close(NOT_TEXT, 'messages are JSON texts')
      return
    }
    const message = this.#parse(data)
    if (message === null || !this.#isWithinRate(message.id)) return
    const isLarge = this.#parts.calls.mayBeLarge(message.call, message.args)
    if (this.#calls.add(data.byteLength, isLarge, () => this.#answer(message))) return
    const error = { max: CONCURRENT_CALLS_MAX }
    this.#refuse(message.id, new WakefulError('limit.calls_in_progress', error, { retryAfterMs: 100 }))
  }

  #parse(data: Buffer): Message | null {
    let id: string | number | null = null
    try {
      const value = readJson(data.toString('utf8'), WS_VERBATIM, { what: 'message' })
      id = idOf(isObject(value) ? value.id : undefined)
      return messageOf(value, id)
    } catch (thrown) {
      // Invalid messages count like valid ones: a flood of them ends the connection too.
      if (this.#isWithinRate(id)) this.#refuse(id, thrown)
      return null
    }
  }

  /** Messages beyond the rate are refused. A peer that keeps sending them is disconnected. */
  #isWithinRate(id: string | number | null): boolean {
    const { messagesPerSecond: size } = this.#parts
    const retryAfterMs = this.#rate.consume('messages', 1, { size, perMs: size / 1_000 })
    if (retryAfterMs === 0) return true
    if (this.#rate.consume('refused', 1, { size, perMs: size / 10_000 }) > 0)
      this.#close(POLICY_VIOLATION, 'too many messages')
    else this.#refuse(id, new WakefulError('limit.messages', { max: size }, { retryAfterMs }))
    return false
  }

  async #answer({ id, call, args }: Message): Promise<void> {
    const { calls, caller } = this.#parts
    const { signal } = this.#abort
    try {
      // A reader that does not read gets no more answers.
      await this.#buffer.drained()
      if (signal.aborted) return
      const result = await calls.perform(call, args, caller, {
        signal,
        subscribe: (options) => this.#subscribe(options),
        unsubscribe: (name) => this.#unsubscribe(name),
      })
      const { json, nextCursor = null } = result
      const more = nextCursor === null ? '' : `,"next_cursor":${JSON.stringify(nextCursor)}`
      this.#buffer.send(`{"id":${JSON.stringify(id)},"result":${json}${more}}`)
      result.after?.()
    } catch (thrown) {
      this.#refuse(id, thrown)
    }
  }

  #refuse(id: string | number | null, thrown: unknown): void {
    const { type: _type, title: _title, status: _status, ...error } = problemOf(thrown)
    const retryAfterMs = thrown instanceof WakefulError ? thrown.retryAfterMs : undefined
    const later = retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }
    this.#buffer.send(JSON.stringify({ id, error: { ...error, ...later } }))
  }

  async #subscribe(options: EventFeedOptions): Promise<{ json: string; after: () => void }> {
    if (this.#feeds.size + this.#subscribing >= SUBSCRIPTIONS_MAX)
      throw new WakefulError('limit.subscriptions', { max: SUBSCRIPTIONS_MAX })
    this.#subscriptions += 1
    const name = `s${this.#subscriptions}`
    const feed = await this.#openFeed(options)
    if (this.#abort.signal.aborted) feed.end()
    else this.#feeds.set(name, feed)
    // Events are sent after the answer that names the subscription.
    return {
      json: JSON.stringify({ subscription: name, cursor: feed.cursor }),
      after: () => void this.#pump(name, feed),
    }
  }

  /** A subscription counts while it opens: others may be requested meanwhile. */
  async #openFeed(options: EventFeedOptions): Promise<EventFeed> {
    const { caller, connections, reads } = this.#parts
    // Each subscription after the first counts as a connection.
    const remove = this.#feeds.size + this.#subscribing > 0 ? connections.addReader(caller) : () => {}
    this.#subscribing += 1
    try {
      return await openFeed(caller, options, reads, remove)
    } catch (thrown) {
      remove()
      throw thrown
    } finally {
      this.#subscribing -= 1
    }
  }

  #unsubscribe(name: string): boolean {
    this.#feeds.get(name)?.end()
    return this.#feeds.delete(name)
  }

  /** Sends a subscription's events as fast as they are read. */
  async #pump(name: string, feed: EventFeed): Promise<void> {
    try {
      for (;;) {
        await this.#buffer.drained()
        const event = await feed.next()
        if (event === null || this.#feeds.get(name) !== feed) return
        this.#buffer.send(`{"subscription":"${name}","event":${eventWire(event)}}`)
      }
    } catch (thrown) {
      if (this.#feeds.get(name) !== feed) return
      const { code, detail, reason, params } = problemOf(thrown)
      const error = { code, detail, reason, params }
      this.#buffer.send(JSON.stringify({ subscription: name, cursor: feed.cursor, error }))
    } finally {
      if (this.#feeds.get(name) === feed) this.#unsubscribe(name)
    }
  }

  #heartbeat(): void {
    const { clock, heartbeatMs, socket } = this.#parts
    this.#cancelHeartbeat = clock.setTimer(heartbeatMs, () => {
      if (!this.#isAlive) {
        socket.terminate()
        return
      }
      this.#isAlive = false
      socket.ping()
      this.#heartbeat()
    })
  }

  #close(code: number, reason: string): void {
    const { socket, clock } = this.#parts
    if (socket.readyState !== socket.OPEN) return
    socket.close(code, reason)
    this.#end()
    const cancel = clock.setTimer(CLOSE_MS, () => socket.terminate())
    socket.once('close', cancel)
  }

  /** Releases everything. Safe to call twice. */
  #end(): void {
    this.#cancelHeartbeat()
    this.#abort.abort()
    for (const feed of this.#feeds.values()) feed.end()
    this.#feeds.clear()
    this.#calls.close()
    this.#buffer.close()
    this.#remove()
  }
}

function idOf(value: unknown): string | number | null {
  if (typeof value === 'string' && value.length <= 200) return value
  return Number.isSafeInteger(value) ? (value as number) : null
}

function messageOf(value: unknown, id: string | number | null): Message {
  if (!isObject(value)) throw new WakefulError('request.message_shape', {})
  const unknown = Object.keys(value).find((name) => !['id', 'call', 'args'].includes(name))
  if (unknown !== undefined) throw unknownWireField(unknown, ['id', 'call', 'args'])
  if (id === null) throw invalid('id', 'a whole number, or a string of at most 200 characters')
  const { call, args = {} } = value
  if (typeof call !== 'string') throw invalid('call', 'the name of a call, as a string')
  if (!isObject(args)) throw invalid('args', 'an object')
  return { id, call, args }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function invalid(field: string, expected: string): WakefulError {
  return new WakefulError('field.malformed', { expected }, { field })
}
