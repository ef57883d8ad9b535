import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import type { Entry } from '../judge/entries.ts'

/** An append-only file. A line is in the page cache when `write` returns, so a SIGKILL cannot lose it. */
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

/** Reads a ledger. A line cut short by a kill was never written, so its event was not reported to anyone. */
export function readLedger(path: string): Entry[] {
  const entries: Entry[] = []
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    if (!line.endsWith('}')) continue
    entries.push(JSON.parse(line) as Entry)
  }
  return entries
}

/** By how much an entry changes the number of unanswered calls. */
export function openedBy(type: Entry['type']): number {
  if (type === 'ask' || type === 'cancelling') return 1
  return type === 'set' || type === 'cancel' ? -1 : 0
}

/** Counts entries of a growing ledger, reading each line once. */
export class LedgerTail {
  readonly #path: string
  readonly #unanswered = new Map<number, number>()
  #asked = 0
  #read = 0
  #rest = ''

  constructor(path: string) {
    this.#path = path
  }

  /** The number of requests, and the number of unanswered calls of each run. */
  read(): { asked: number; unanswered: ReadonlyMap<number, number> } {
    for (const line of this.#lines()) {
      const { type, run } = JSON.parse(line) as Entry
      if (type === 'ask') this.#asked += 1
      this.#unanswered.set(run ?? 0, (this.#unanswered.get(run ?? 0) ?? 0) + openedBy(type))
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
