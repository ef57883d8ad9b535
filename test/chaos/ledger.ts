import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'

/** What an alarm promises, written down before it is asked for. */
export interface Ask {
  readonly type: 'ask'
  readonly run: number
  /** Unique over the whole campaign; every delivery carries it. */
  readonly name: string
  /** Asks that share a key replace each other, in the order of the ledger. */
  readonly key: string | null
  /** Every instant it is due at. */
  readonly instants: readonly number[]
  readonly ack: 'delivery' | 'report'
  /** Whether its target is the log itself: then the record is the delivery. */
  readonly toLog: boolean
  /** Whether its handler writes one row that must commit with the settle. */
  readonly effect: boolean
}

/** One delivery began: the first thing a handler writes. */
export interface Start {
  readonly type: 'start'
  readonly run: number
  readonly at: number
  readonly name: string
  readonly alarmId: string
  readonly occurrenceId: string
  readonly scheduledFor: number
  readonly attempt: number
  /** The handler means to fail, so that another attempt is right. */
  readonly willFail: boolean
}

/** A run, or every run (0), was cut off from the store, or from time, for a while. */
export interface Broken {
  readonly type: 'broken'
  readonly run: number
  readonly what: 'restart' | 'cut' | 'half_open' | 'stall'
  readonly at: number
  /** For how long what starts may still be hit by it. */
  readonly lastsMs: number
  readonly logEnd: number
  readonly inFlight: number
}

/** A line of the ledger. Its order is the order in which things were known. */
export type Entry =
  | Ask
  /** The set was answered. */
  | { readonly type: 'set'; readonly run: number; readonly name: string; readonly alarmId: string }
  | { readonly type: 'cancelling'; readonly run: number; readonly alarmId: string }
  | {
      readonly type: 'cancel'
      readonly run: number
      readonly alarmId: string
      readonly outcome: 'cancelled' | 'firing' | 'ended'
    }
  | Start
  /** Something failed that no kill explains. */
  | { readonly type: 'trouble'; readonly run: number; readonly text: string }
  /** The run was killed; the log ended at this place, and this much was unsettled or unanswered. */
  | {
      readonly type: 'killed'
      readonly run: number
      /** When, where several processes run at once: nothing before it is explained by it. */
      readonly at?: number
      readonly logEnd: number
      readonly inFlight: number
      readonly unanswered: number
    }
  /** The run was stopped for longer than its lease; it goes on later. */
  | { readonly type: 'paused'; readonly run: number; readonly logEnd: number; readonly inFlight: number }
  | Broken
  /** A call or the engine was told that the store cannot be reached: what was asked for stays unanswered. */
  | { readonly type: 'unavailable'; readonly run: number; readonly text: string }
  | { readonly type: 'closed'; readonly run: number }

/** An append-only file: a line is in the page cache when `write` returns, so that a SIGKILL cannot take it back. */
export class Ledger {
  readonly #file: number

  constructor(path: string) {
    this.#file = openSync(path, 'a')
  }

  write(entry: Entry): void {
    writeSync(this.#file, `${JSON.stringify(entry)}\n`)
  }

  close(): void {
    closeSync(this.#file)
  }
}

/** Reads a ledger back. A line that was cut short by a kill was never written: nothing was told to anyone. */
export function readLedger(path: string): Entry[] {
  const entries: Entry[] = []
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    if (!line.endsWith('}')) continue
    entries.push(JSON.parse(line) as Entry)
  }
  return entries
}

/** Counts what a growing ledger says, reading each line once. */
export class LedgerTail {
  readonly #path: string
  readonly #unanswered = new Map<number, number>()
  #asked = 0
  #read = 0
  #rest = ''

  constructor(path: string) {
    this.#path = path
  }

  /** How much was asked for, and how many calls of each run are open. */
  read(): { asked: number; unanswered: ReadonlyMap<number, number> } {
    for (const line of this.#lines()) {
      const { type, run } = JSON.parse(line) as Entry
      const step = type === 'ask' || type === 'cancelling' ? 1 : type === 'set' || type === 'cancel' ? -1 : 0
      if (type === 'ask') this.#asked += 1
      this.#unanswered.set(run, (this.#unanswered.get(run) ?? 0) + step)
    }
    return { asked: this.#asked, unanswered: this.#unanswered }
  }

  #lines(): string[] {
    const file = openSync(this.#path, 'r')
    const chunk = Buffer.alloc(1 << 20)
    let text = this.#rest
    try {
      for (let count = 1; count > 0; this.#read += count) {
        count = readSync(file, chunk, 0, chunk.length, this.#read)
        text += chunk.toString('latin1', 0, count)
      }
    } finally {
      closeSync(file)
    }
    const lines = text.split('\n')
    this.#rest = lines.pop()!
    return lines.filter((line) => line.endsWith('}'))
  }
}
