import type { WebSocket } from 'ws'
import { eventWire, WS_VERBATIM } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import { readJson } from '../../json/index.ts'
import type { Clock } from '../../time/index.ts'
import type { Caller } from '../auth/index.ts'
import { problemOf, TryLater } from '../http/index.ts'
import {
  type ConnectionLimiter,
  type EventReadLimiter,
  RateLimiter,
  SendBuffer,
  type Unread,
} from '../limits/index.ts'
import { EventFeed } from './event-feed.ts'
import type { Subscribe, WsCalls } from './ws-calls.ts'

/** What a WebSocket may do, and for how long. */
export interface WsBounds {
  readonly messageBytesMax: number
  readonly messagesPerSecond: number
  readonly bufferBytesMax: number
  readonly heartbeatMs: number
  /** How long a reader may take to make room. */
  readonly stallMs: number
}

/** What the session of one connection is made of. */
export interface WsSessionParts extends WsBounds {
  readonly socket: WebSocket
  readonly caller: Caller
  readonly calls: WsCalls
  readonly lines: ConnectionLimiter
  readonly clock: Clock
  readonly unread: Unread
  readonly pace: EventReadLimiter
}

const CALLS_AT_A_TIME = 16
const SUBSCRIPTIONS_MAX = 16
/** How long a peer may take to say goodbye. */
const GOODBYE_MS = 2_000

/** The codes a connection is closed with (RFC 6455, and the registry of IANA). */
const GOING_AWAY = 1001
const NOT_TEXT = 1003
const REFUSED = 1008
const TRY_LATER = 1013

/** A call that came in. */
interface Message {
  readonly id: string | number | null
  readonly call: string
  readonly args: Readonly<Record<string, unknown>>
}

/** One connection: its calls, its subscriptions, and what bounds them. */
export class WsSession {
  readonly #parts: WsSessionParts
  readonly #outbox: SendBuffer
  readonly #rate: RateLimiter
  readonly #abort = new AbortController()
  readonly #feeds = new Map<string, EventFeed>()
  readonly #waiting: (() => void)[] = []
  #waitingBytes = 0
  #turn: Promise<void> = Promise.resolve()
  #running = 0
  #subscriptions = 0
  #subscribing = 0
  #isAlive = true
  #leave: () => void = () => {}
  #cancelBeat: () => void = () => {}

  constructor(parts: WsSessionParts) {
    const { socket, clock, bufferBytesMax, stallMs, unread } = parts
    this.#parts = parts
    this.#rate = new RateLimiter(clock)
    this.#outbox = new SendBuffer({ socket, clock, bytesMax: bufferBytesMax, stallMs, unread }, () =>
      this.#close(TRY_LATER, 'you read too slowly: resume from your last cursor'),
    )
    socket.on('close', () => {
      unread.count(this.#outbox, 0)
      this.#over()
    })
    // What breaks a connection closes it; there is nobody to tell.
    socket.on('error', () => {})
    socket.on('pong', () => {
      this.#isAlive = true
    })
    socket.on('ping', (data) => this.#outbox.pong(data))
    socket.on('message', (data, isBinary) => this.#heard(data as Buffer, isBinary))
  }

  /** Takes its place among the open ones; refused where there is none. */
  begin(): void {
    const { lines, caller } = this.#parts
    this.#leave = lines.enter({
      kind: 'ws',
      caller,
      end: (why) =>
        why === 'closing'
          ? this.#close(GOING_AWAY, 'the server is closing: connect again')
          : this.#close(REFUSED, 'the key no longer holds'),
    })
    this.#beat()
  }

  #heard(data: Buffer, isBinary: boolean): void {
    const { socket } = this.#parts
    if (socket.readyState !== socket.OPEN) return
    this.#isAlive = true
    if (isBinary) {
      this.#close(NOT_TEXT, 'messages are JSON texts')
      return
    }
    const message = this.#read(data)
    if (message === null || !this.#isInRate(message.id)) return
    if (this.#running >= CALLS_AT_A_TIME) this.#wait(message, data.byteLength)
    else void this.#run(message)
  }

  #read(data: Buffer): Message | null {
    let id: string | number | null = null
    try {
      const given = readJson(data.toString('utf8'), WS_VERBATIM, { what: 'message' })
      const fields = isObject(given) ? given : {}
      id = idOf(fields.id)
      return messageOf(given, id)
    } catch (thrown) {
      // What cannot be read counts like what can: a flood of it ends the connection as well.
      if (this.#isInRate(id)) this.#refuse(id, thrown)
      return null
    }
  }

  /** So many per second; beyond them they are refused, and who goes on all the same is cut off. */
  #isInRate(id: string | number | null): boolean {
    const { messagesPerSecond: size } = this.#parts
    const retryAfterMs = this.#rate.take('messages', 1, { size, perMs: size / 1_000 })
    if (retryAfterMs === 0) return true
    if (this.#rate.take('refused', 1, { size, perMs: size / 10_000 }) > 0)
      this.#close(REFUSED, 'too many messages')
    else this.#refuse(id, new TryLater('rate_limited', `at most ${size} messages per second`, retryAfterMs))
    return false
  }

  /** Keeps a call for later, as much as one message may be large. */
  #wait(message: Message, bytes: number): void {
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes > this.#parts.messageBytesMax) {
      const refusal = `${CALLS_AT_A_TIME} calls are under way, and more wait: wait for answers`
      this.#refuse(message.id, new TryLater('rate_limited', refusal, 100))
      return
    }
    this.#waitingBytes += bytes
    this.#waiting.push(() => {
      this.#waitingBytes -= bytes
      void this.#run(message)
    })
  }

  async #run(message: Message): Promise<void> {
    this.#running += 1
    if (this.#parts.calls.mayBeLarge(message.call, message.args)) await this.#inTurn(message)
    else await this.#answer(message)
    this.#running -= 1
    this.#waiting.shift()?.()
  }

  /** Large answers are made one after the other: a reader who takes none of them is kept one of them for, and not all. */
  #inTurn(message: Message): Promise<void> {
    this.#turn = this.#turn.then(() => this.#answer(message))
    return this.#turn
  }

  async #answer({ id, call, args }: Message): Promise<void> {
    const { calls, caller } = this.#parts
    const { signal } = this.#abort
    try {
      // Who does not read the answers is not given more of them.
      await this.#outbox.room()
      if (signal.aborted) return
      const result = await calls.perform(call, args, caller, {
        signal,
        subscribe: (given) => this.#subscribe(given),
        unsubscribe: (name) => this.#unsubscribe(name),
      })
      const { json, nextCursor = null } = result
      const more = nextCursor === null ? '' : `,"next_cursor":${JSON.stringify(nextCursor)}`
      this.#outbox.send(`{"id":${JSON.stringify(id)},"result":${json}${more}}`)
      result.after?.()
    } catch (thrown) {
      this.#refuse(id, thrown)
    }
  }

  #refuse(id: string | number | null, thrown: unknown): void {
    const { code, detail, errors } = problemOf(thrown)
    const later = thrown instanceof TryLater ? { retry_after_ms: thrown.retryAfterMs } : {}
    this.#outbox.send(JSON.stringify({ id, error: { code, detail, ...(errors && { errors }), ...later } }))
  }

  async #subscribe(given: Subscribe): Promise<{ json: string; after: () => void }> {
    if (this.#feeds.size + this.#subscribing >= SUBSCRIPTIONS_MAX)
      throw new WakefulError(
        'invalid_request',
        `a connection has at most ${SUBSCRIPTIONS_MAX} subscriptions: unsubscribe one`,
      )
    this.#subscriptions += 1
    const name = `s${this.#subscriptions}`
    const feed = await this.#opened(given)
    if (this.#abort.signal.aborted) feed.end()
    else this.#feeds.set(name, feed)
    // Its events follow the answer that names it.
    return {
      json: JSON.stringify({ subscription: name, cursor: feed.cursor }),
      after: () => void this.#pump(name, feed),
    }
  }

  /** Others may ask while it opens: it counts already. */
  async #opened(given: Subscribe): Promise<EventFeed> {
    const { caller, lines, pace } = this.#parts
    // Who follows more than once takes the room of more than one.
    const leave = this.#feeds.size + this.#subscribing > 0 ? lines.addReader(caller) : () => {}
    this.#subscribing += 1
    try {
      return await EventFeed.open(caller, given, { pace, onEnded: leave })
    } catch (thrown) {
      leave()
      throw thrown
    } finally {
      this.#subscribing -= 1
    }
  }

  #unsubscribe(name: string): boolean {
    this.#feeds.get(name)?.end()
    return this.#feeds.delete(name)
  }

  /** Sends a subscription's events, as fast as they are read and no faster. */
  async #pump(name: string, feed: EventFeed): Promise<void> {
    try {
      for (;;) {
        await this.#outbox.room()
        const event = await feed.next()
        if (event === null || this.#feeds.get(name) !== feed) return
        this.#outbox.send(`{"subscription":"${name}","event":${eventWire(event)}}`)
      }
    } catch (thrown) {
      if (this.#feeds.get(name) !== feed) return
      const { code, detail } = problemOf(thrown)
      this.#outbox.send(JSON.stringify({ subscription: name, cursor: feed.cursor, error: { code, detail } }))
    } finally {
      if (this.#feeds.get(name) === feed) this.#unsubscribe(name)
    }
  }

  #beat(): void {
    const { clock, heartbeatMs, socket } = this.#parts
    this.#cancelBeat = clock.setTimer(heartbeatMs, () => {
      if (!this.#isAlive) {
        socket.terminate()
        return
      }
      this.#isAlive = false
      socket.ping()
      this.#beat()
    })
  }

  #close(code: number, reason: string): void {
    const { socket, clock } = this.#parts
    if (socket.readyState !== socket.OPEN) return
    socket.close(code, reason)
    this.#over()
    const cancel = clock.setTimer(GOODBYE_MS, () => socket.terminate())
    socket.once('close', cancel)
  }

  /** Lets go of everything; done once, also where it is called twice. */
  #over(): void {
    this.#cancelBeat()
    this.#abort.abort()
    for (const feed of this.#feeds.values()) feed.end()
    this.#feeds.clear()
    this.#waiting.length = 0
    this.#outbox.close()
    this.#leave()
  }
}

function idOf(given: unknown): string | number | null {
  if (typeof given === 'string' && given.length <= 200) return given
  return Number.isSafeInteger(given) ? (given as number) : null
}

function messageOf(given: unknown, id: string | number | null): Message {
  if (!isObject(given)) throw wrong('a message is an object: {"id":1,"call":"stats","args":{}}')
  const unknown = Object.keys(given).find((name) => !['id', 'call', 'args'].includes(name))
  if (unknown !== undefined)
    throw wrong(`unknown field ${JSON.stringify(unknown.slice(0, 60))}; known are id, call, args`)
  if (id === null) throw wrong('id must be a whole number, or a text of at most 200 characters')
  const { call, args = {} } = given
  if (typeof call !== 'string') throw wrong('call must be the name of a call, as a text')
  if (!isObject(args)) throw wrong('args must be an object')
  return { id, call, args }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function wrong(detail: string): WakefulError {
  return new WakefulError('invalid_request', detail)
}
