import { WakefulError } from '../../../error.ts'
import { type Database, isContention, isDuplicate, type Querying, type Session } from '../connection/index.ts'
import { meta } from '../sql/index.ts'

/** The part of a user's `pg` client that is needed here. */
interface UserClient extends Querying {
  getTransactionStatus?(): string | null
  readonly totalCount?: number
}

const ATTEMPTS_MAX = 3
const ISOLATION = `SELECT current_setting('transaction_isolation')`
/** Calls on one connection run one after the other: rolling back one would also undo the others. */
const TURNS = new WeakMap<object, Promise<unknown>>()

/** Whether a retry can succeed: after contention, or when another call has just set the same key. */
function isPassing(thrown: unknown): boolean {
  return isContention(thrown) || isDuplicate(thrown)
}

/** Runs work in transactions that users open and end on their own connections. */
export class UserTransactions {
  readonly #database: Database
  readonly #known = new WeakSet<object>()

  constructor(database: Database) {
    this.#database = database
  }

  /**
   * Runs work that leaves nothing behind when it fails, and leaves the user's transaction usable. Work that `looks`
   * decides by what is in flight now, which an older snapshot does not show.
   */
  async within<T>(tx: unknown, looks: boolean, work: (session: Session) => Promise<T>): Promise<T> {
    const client = userClientOf(tx)
    const turn = (TURNS.get(client) ?? Promise.resolve()).then(() => this.#within(client, looks, work))
    TURNS.set(
      client,
      turn.catch(() => {}),
    )
    return turn
  }

  async #within<T>(client: UserClient, looks: boolean, work: (session: Session) => Promise<T>): Promise<T> {
    const session = this.#database.userSession(client)
    try {
      await session.plain('SAVEPOINT wakeful')
    } catch (cause) {
      throw new WakefulError('tx.not_begun', {}, { field: 'tx', cause })
    }
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#assertHere(client, session)
        if (looks) await assertCurrent(session)
        const answer = await work(session)
        await session.plain('RELEASE SAVEPOINT wakeful')
        return answer
      } catch (thrown) {
        const first = session.cause(thrown)
        await session.rollbackTo('wakeful').catch(() => {})
        if (attempt < ATTEMPTS_MAX && isPassing(first)) continue
        await session.plain('RELEASE SAVEPOINT wakeful').catch(() => {})
        throw first
      }
    }
  }

  /** Another database may have the same tables. */
  async #assertHere(tx: object, session: Session): Promise<void> {
    if (this.#known.has(tx)) return
    const ours = await this.#database.session.row(meta, 'store')
    const theirs = await session.row(meta, 'store').catch(() => undefined)
    if (theirs === undefined || theirs[0] !== ours?.[0])
      throw new WakefulError('tx.other_database', { name: this.#database.name }, { field: 'tx' })
    this.#known.add(tx)
  }
}

/** Statements that begin after the locks, each with its own snapshot, see what is in flight. */
async function assertCurrent(session: Session): Promise<void> {
  const [level] = (await session.row(ISOLATION)) as [string]
  if (level === 'read committed') return
  throw new WakefulError('tx.isolation', { level }, { field: 'tx' })
}

function userClientOf(tx: unknown): UserClient {
  if (typeof tx !== 'object' || tx === null || typeof (tx as UserClient).query !== 'function')
    throw new WakefulError('tx.not_a_client', {}, { field: 'tx' })
  const client = tx as UserClient
  if (client.totalCount !== undefined) throw new WakefulError('tx.pool', {}, { field: 'tx' })
  const status = client.getTransactionStatus?.()
  if (status === 'I') throw new WakefulError('tx.not_begun', {}, { field: 'tx' })
  if (status === 'E') throw new WakefulError('tx.failed', {}, { field: 'tx' })
  return client
}
