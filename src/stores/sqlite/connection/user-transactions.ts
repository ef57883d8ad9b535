import { realpathSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { WakefulError } from '../../../error.ts'
import { Session } from './connection.ts'

/** The users' own connections, for calls with `{ tx }`. */
export class UserTransactions {
  readonly #own: Session
  readonly #sessions = new WeakMap<DatabaseSync, Session>()

  constructor(own: Session) {
    this.#own = own
  }

  /** The session of a user's connection; throws if it cannot be used. */
  session(tx: unknown): Session {
    const refuse = (detail: string) => new WakefulError('tx.invalid', { detail })
    if (!(tx instanceof DatabaseSync))
      throw refuse('must be a node:sqlite DatabaseSync with an open transaction on the same file')
    if (!tx.isOpen) throw refuse('is closed. Open it and begin a transaction')
    if (!tx.isTransaction) throw refuse('has no open transaction. Begin one first (BEGIN IMMEDIATE)')
    if (tx === this.#own.db) return this.#own
    const [theirs, ours] = [tx.location(), this.#own.db.location()]
    if (theirs === null || ours === null || realpathSync(theirs) !== realpathSync(ours)) {
      throw refuse(
        `is on ${theirs ?? 'a database in memory'}, but the alarms are in ${ours ?? 'another in memory'}`,
      )
    }
    const session = this.#sessions.get(tx) ?? new Session(tx)
    this.#sessions.set(tx, session)
    return session
  }
}
