import { realpathSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { WakefulError } from '../../../error.ts'
import { Session } from './connection.ts'
import { nodeSqlite } from './node-sqlite.ts'

/** The users' own connections, for calls with `{ tx }`. */
export class UserTransactions {
  readonly #own: Session
  readonly #sessions = new WeakMap<DatabaseSync, Session>()

  constructor(own: Session) {
    this.#own = own
  }

  /** The session of a user's connection; throws if it cannot be used. */
  session(tx: unknown): Session {
    const at = { field: 'tx' }
    if (!(tx instanceof nodeSqlite.DatabaseSync)) throw new WakefulError('tx.not_a_database', {}, at)
    if (!tx.isOpen) throw new WakefulError('tx.closed', {}, at)
    if (!tx.isTransaction) throw new WakefulError('tx.not_begun', {}, at)
    if (tx === this.#own.db) return this.#own
    const [theirs, ours] = [tx.location(), this.#own.db.location()]
    if (theirs === null || ours === null || realpathSync(theirs) !== realpathSync(ours)) {
      throw new WakefulError('tx.other_file', { file: theirs ?? ':memory:', store: ours ?? ':memory:' }, at)
    }
    const session = this.#sessions.get(tx) ?? new Session(tx)
    this.#sessions.set(tx, session)
    return session
  }
}
