import { Tallies } from '../../index.ts'
import { type Bindable, type Database, isBroken, type Session } from '../connection/index.ts'
import * as sql from '../sql/index.ts'
import { columns, Writes } from './row-writes.ts'
import type { ShardMap } from './shard-map.ts'

/** Rows that many writers add to are several, so that they rarely wait for each other. */
const TALLY_SLOTS = 8

/** What every desk of a store has in common. */
export interface StoreContext {
  readonly shards: ShardMap
  /** The moment that is bound where the database's clock is not the authority; else null. */
  readonly moment: () => number | null
  readonly channel: string
  /** Whether a wake at this time comes before others would find it by themselves. */
  readonly isSoon: (wakeAt: number) => boolean
  /** Whether this process runs the shard's clock itself. */
  readonly holds: (shard: number) => boolean
  /** This process among those that tell. */
  readonly teller: string
}

/** What processes tell each other: that something wakes soon, and who says so; that shards are free; that a calendar was edited. */
export type Notice = { readonly wakeAt: number; readonly teller: string } | 'shards' | 'calendars' | null

export const SHARDS_NOTICE = 'shards'
const CALENDARS_NOTICE = 'calendars'

function timersNotice(wakeAt: number, teller: string): string {
  return `timers ${wakeAt} ${teller}`
}

/** Reads a notice; null for what another version may say. */
export function noticeOf(text: string): Notice {
  if (text === SHARDS_NOTICE) return 'shards'
  if (text === CALENDARS_NOTICE) return 'calendars'
  const [, wakeAt, teller] = /^timers (\d+) (.*)$/.exec(text) ?? []
  return wakeAt === undefined ? null : { wakeAt: Number(wakeAt), teller: teller ?? '' }
}

/** Where decisions become rows: a transaction, what is to be written in it, and where things live. */
export class WriteBatch {
  readonly session: Session
  writes: Writes
  readonly #office: StoreContext
  readonly #isGuest: boolean
  readonly #tallies = new Tallies()

  constructor(session: Session, office: StoreContext, isGuest = false) {
    this.session = session
    this.writes = new Writes(office.shards)
    this.#office = office
    this.#isGuest = isGuest
  }

  get moment(): () => number | null {
    return this.#office.moment
  }

  /** Forgets what was gathered and not accepted: it was undone. */
  clear(): void {
    this.writes = new Writes(this.#office.shards)
  }

  /** Writes what was gathered so far, so that what follows sees it. The figures wait for the end. */
  async flush(): Promise<void> {
    await this.writes.flush(this.session)
    // What a commit follows is not waited for here.
    if (this.#isGuest) await this.session.landed()
  }

  /** What was written stays, whatever is undone later. */
  accept(): void {
    this.#tallies.merge(this.writes.tallies)
    this.writes.tallies.drain()
  }

  /** Writes everything, with the figures. */
  async finish(): Promise<void> {
    this.accept()
    await this.writes.flush(this.session, this.#figures())
    this.#tell()
    if (this.#isGuest) await this.session.landed()
  }

  #figures(): Bindable[] | null {
    const tallies = this.#tallies.drain()
    if (tallies.length === 0) return null
    const rows = tallies.map(({ scope, sums }) => [scope.tenant, scope.owner, ...sums])
    const slot = this.#isGuest ? null : Math.floor(Math.random() * TALLY_SLOTS)
    return [slot, ...columns(rows)]
  }

  /** Tells other processes, when this is committed, that a calendar was written. */
  tellCalendars(): void {
    this.session.send(sql.notify, this.#office.channel, CALENDARS_NOTICE)
  }

  /** Tells other processes of what falls due before their next beat: once per commit, and only then (hazard 9). */
  #tell(): void {
    const { channel, isSoon, holds, teller } = this.#office
    const wakes = [...this.writes.wakes].filter(
      ([shard, wakeAt]) => isSoon(wakeAt) && (this.#isGuest || !holds(shard)),
    )
    if (wakes.length === 0) return
    const earliest = Math.min(...wakes.map(([, wakeAt]) => wakeAt))
    // A guest's commit is yet to come: this process too must hear of it then.
    this.session.send(sql.notify, channel, timersNotice(earliest, this.#isGuest ? '' : teller))
  }
}

/** Runs work in a transaction, tells others of what it wrote, and has it noted when it is committed. */
export async function inWriteBatch<T>(
  database: Database,
  office: StoreContext,
  work: (desk: WriteBatch) => Promise<T>,
  note: (desk: WriteBatch) => void,
): Promise<T> {
  let last: WriteBatch | undefined
  const inTransaction = async (session: Session) => {
    const desk = new WriteBatch(session, office)
    last = desk
    const answer = await work(desk)
    await desk.finish()
    return { answer, desk }
  }
  try {
    const { answer, desk } = await database.transaction(inTransaction)
    note(desk)
    return answer
  } catch (thrown) {
    // It may have been committed, and only the answer is lost: what wakes by it must be looked for.
    if (last !== undefined && isBroken(thrown)) note(last)
    throw thrown
  }
}
