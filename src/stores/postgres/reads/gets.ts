import type { ReadScope, Snapshot } from '../../../alarm/index.ts'
import type { Timers } from '../../sharded/index.ts'
import type { Database, Session } from '../connection/index.ts'
import { readSnapshots, seqsNamed, snapshotIn } from '../rows/index.ts'
import * as sql from '../sql/index.ts'

/** A caller that waits for an alarm. */
interface Asked {
  readonly tenant: string | null
  readonly owner: string | null
  readonly name: string
  readonly resolve: (snapshot: Snapshot | null) => void
  readonly reject: (reason: unknown) => void
}

const TOGETHER_MAX = 500

/**
 * Reads alarms by id. Calls of the same turn of the event loop share their statements: callers whose edits shared a
 * commit are answered together, and each then reads its alarm.
 */
export class Gets {
  readonly #session: Session
  readonly #timers: Timers
  #asked: Asked[] = []

  constructor({ session, timers }: Database) {
    this.#session = session
    this.#timers = timers
  }

  get({ tenant, owner }: ReadScope, id: string): Promise<Snapshot | null> {
    return new Promise((resolve, reject) => {
      if (this.#asked.length === 0) this.#timers.soon(() => this.#readAll(this.#asked.splice(0)))
      this.#asked.push({ tenant, owner, name: id, resolve, reject })
    })
  }

  #readAll(asked: readonly Asked[]): void {
    for (let from = 0; from < asked.length; from += TOGETHER_MAX) {
      const together = asked.slice(from, from + TOGETHER_MAX)
      this.#read(together).catch((thrown: unknown) => {
        for (const { reject } of together) reject(thrown)
      })
    }
  }

  async #read(asked: readonly Asked[]): Promise<void> {
    const seqOf = await seqsNamed(this.#session, sql.seqsOfIds, asked)
    const snapshots = await readSnapshots(this.#session, [...new Set(seqOf.values())])
    for (const [place, { resolve, reject }] of asked.entries()) {
      const seq = seqOf.get(place)
      try {
        resolve(seq === undefined ? null : (snapshotIn(snapshots, seq) ?? null))
      } catch (damaged) {
        reject(damaged)
      }
    }
  }
}
