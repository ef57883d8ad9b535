import type pg from 'pg'
import * as sql from '../sql/index.ts'
import type { Database } from './database.ts'
import { endAll, hangUp } from './disconnect.ts'
import { isBroken } from './errors.ts'
import { type Bindable, type Querying, Session } from './session.ts'

/** What a listener is made of. */
export interface ListenerPorts {
  readonly database: Database
  readonly channel: string
  /** An answer that takes longer comes from a connection that is half open. */
  readonly answerMsMax: number
  readonly onNotice: (payload: string) => void
  /** Called when it listens, again too: what was said meanwhile was not heard. */
  readonly onListening: () => void
}

const RETRY_MS_MIN = 100
const RETRY_MS_MAX = 2_000

/**
 * The connection that hears what other processes tell, and that carries the heartbeat: so a connection that is broken or
 * half open is noticed by the next beat. It connects again by itself.
 */
export class Listener {
  readonly #ports: ListenerPorts
  #client: pg.Client | null = null
  #session: Session | null = null
  #retry: NodeJS.Timeout | null = null
  #retryMs = RETRY_MS_MIN
  #started = false
  #connecting: Promise<void> = Promise.resolve()

  constructor(ports: ListenerPorts) {
    this.#ports = ports
  }

  /** Whether it hears at this moment. */
  get isListening(): boolean {
    return this.#session !== null
  }

  start(): void {
    // Behind a pooler nobody would be told: what others write is found by the next beat.
    if (this.#started || this.#ports.database.isPooled) return
    this.#started = true
    this.#connecting = this.#connect()
  }

  /** Sends the heartbeat where it can be heard that it fails; else on any other connection. */
  async beat(...values: Bindable[]) {
    const session = this.#session
    if (session === null) return this.#ports.database.session.rows(sql.beat, ...values)
    try {
      return await session.rows(sql.beat, ...values)
    } catch (thrown) {
      if (!isBroken(thrown)) throw thrown
      this.#drop()
      return this.#ports.database.session.rows(sql.beat, ...values)
    }
  }

  async close(): Promise<void> {
    this.#started = false
    if (this.#retry !== null) clearTimeout(this.#retry)
    this.#retry = null
    await this.#connecting
    const client = this.#client
    this.#client = null
    this.#session = null
    if (client !== null)
      await endAll(
        client.end().catch(() => {}),
        () => [client],
      )
  }

  async #connect(): Promise<void> {
    const { database, channel, answerMsMax, onNotice, onListening } = this.#ports
    const client = database.dedicated(answerMsMax)
    this.#client = client
    client.on('error', () => this.#drop(client))
    client.on('end', () => this.#drop(client))
    client.on('notification', ({ payload }) => onNotice(payload ?? ''))
    try {
      await client.connect()
      await client.query(`LISTEN "${channel}"`)
    } catch {
      // Told by whoever needs the database; here it is only tried again.
      this.#drop(client)
      return
    }
    if (this.#client !== client) return
    this.#retryMs = RETRY_MS_MIN
    this.#session = new Session(client as Querying, database.dialect)
    onListening()
  }

  #drop(client = this.#client): void {
    if (client === null || this.#client !== client) return
    this.#client = null
    this.#session = null
    // Without a goodbye: over a half-open one it may take minutes.
    client.end().catch(() => {})
    hangUp(client)
    if (!this.#started) return
    this.#retry = setTimeout(() => {
      this.#connecting = this.#connect()
    }, this.#retryMs)
    this.#retryMs = Math.min(2 * this.#retryMs, RETRY_MS_MAX)
  }
}
