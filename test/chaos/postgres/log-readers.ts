import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { open, type Wakeful } from '../../../src/index.ts'
import { Random } from '../../random.ts'

/** How the log is written while it is read. */
export interface LogReadersOptions {
  readonly url: string
  readonly events: number
  readonly seed: number
  readonly writers?: number
  readonly perTransactionMax: number
  /** How long the one long transaction stays open. */
  readonly longMs: number
}

/** What the readers got. */
export interface LogReadersResult {
  readonly written: number
  readonly rolledBack: number
  /** Events that were written but never read, by reader. */
  readonly missed: readonly number[]
  readonly readTwice: readonly number[]
  /** Commits out of the order of their numbers: without any, the test proves nothing. */
  readonly commitsOutOfOrder: number
}

const OPEN_MS_MAX = 500
const APPEND = `INSERT INTO wakeful.events (id, tenant, owner, type, origin, at, data)
  SELECT 'w' || $1 || '-' || n, 'default', '', 'app.noted', 'caught', 1, '{}' FROM generate_series(1, $2::int) AS n
  RETURNING seq::float8 AS seq`

/**
 * Writers keep transactions open for up to half a second, roll some of them back, and keep one open for much longer,
 * while two readers follow the log by cursor. So numbers are not committed in order.
 */
export async function logReaders(options: LogReadersOptions): Promise<LogReadersResult> {
  const wakeful = await open(options.url)
  const random = new Random(options.seed)
  const writing = new Writing(options, random)
  const readers = [new Reader(wakeful), new Reader(await open(options.url))]
  try {
    const reading = readers.map((reader) => reader.run(() => writing.isOver))
    await writing.run()
    await Promise.all(reading)
    const client = await connected(options.url)
    const { rows } = await client.query<{ id: string }>(
      "SELECT id FROM wakeful.events WHERE type = 'app.noted'",
    )
    await client.end()
    return {
      written: rows.length,
      rolledBack: writing.rolledBack,
      missed: readers.map(({ seen }) => rows.filter(({ id }) => !seen.has(id)).length),
      readTwice: readers.map((reader) => reader.twice),
      commitsOutOfOrder: writing.outOfOrder,
    }
  } finally {
    for (const reader of readers) await reader.wakeful.close()
  }
}

class Writing {
  readonly #options: LogReadersOptions
  readonly #random: Random
  #written = 0
  #newest = 0
  rolledBack = 0
  outOfOrder = 0
  isOver = false

  constructor(options: LogReadersOptions, random: Random) {
    this.#options = options
    this.#random = random
  }

  async run(): Promise<void> {
    const { writers = 8, events, longMs } = this.#options
    try {
      await Promise.all([
        this.#long(longMs),
        ...Array.from({ length: writers }, () => this.#write(Math.ceil(events / writers))),
      ])
    } finally {
      this.isOver = true
    }
  }

  async #long(openMs: number): Promise<void> {
    const client = await connected(this.#options.url)
    await this.#transaction(client, 10, openMs, false)
    await client.end()
  }

  async #write(events: number): Promise<void> {
    const client = await connected(this.#options.url)
    for (let written = 0; written < events; ) {
      const count = Math.min(events - written, this.#random.between(1, this.#options.perTransactionMax))
      const isUndone = this.#random.chance(0.1)
      await this.#transaction(client, count, this.#random.between(0, OPEN_MS_MAX), isUndone)
      if (!isUndone) written += count
    }
    await client.end()
  }

  async #transaction(client: pg.Client, count: number, openMs: number, isUndone: boolean): Promise<void> {
    await client.query('BEGIN')
    const { rows } = await client.query<{ seq: number }>(APPEND, [randomUUID(), count])
    await new Promise((resolve) => setTimeout(resolve, openMs))
    await client.query(isUndone ? 'ROLLBACK' : 'COMMIT')
    if (isUndone) this.rolledBack += count
    if (isUndone) return
    this.#written += count
    if (rows[0]!.seq < this.#newest) this.outOfOrder += 1
    this.#newest = Math.max(this.#newest, rows.at(-1)!.seq)
  }
}

/** Repeatedly reads to the end, each time from its last position. */
class Reader {
  readonly wakeful: Wakeful
  readonly seen = new Set<string>()
  twice = 0

  constructor(wakeful: Wakeful) {
    this.wakeful = wakeful
  }

  async run(isOver: () => boolean): Promise<void> {
    let cursor: string | undefined
    for (let isLast = false; ; ) {
      for await (const event of this.wakeful.events(cursor === undefined ? {} : { after: cursor })) {
        if (this.seen.has(event.id)) this.twice += 1
        this.seen.add(event.id)
        cursor = event.cursor
      }
      if (isLast) return
      isLast = isOver()
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
}

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return client
}
