import { WakefulError } from '../../error.ts'
import type { Caller } from '../auth/index.ts'
import { TryLater } from '../http/index.ts'

/** What bounds the work that is done in turns. */
export interface QueueBounds {
  readonly atOnce: number
  /** For each owner. */
  readonly waitingMax: number
  /** For all of them together, where what waits holds something. */
  readonly allMax?: number
}

/** Whose turn it is. */
type Who = Pick<Caller, 'tenant' | 'owner'>
/** Whose signal is looked at only by those who wait: it is made when it is. */
interface Going {
  readonly signal?: AbortSignal
}
type Begin = () => void

const RETRY_MS = 1_000

/**
 * Does so much at once, and lets the rest wait. Tenants take turns, and so do the owners of each: whoever asks for a
 * thousand waits for them, and others do not. Between two of them everything else in the process gets its turn.
 */
export class RequestQueue {
  readonly #bounds: QueueBounds
  /** By tenant and owner; the next are first. */
  readonly #waiting = new Map<string, Map<string, Set<Begin>>>()
  #running = 0
  #all = 0

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds
  }

  /** Does the work when its turn has come; not at all where its caller has gone by then. */
  async take<T>(who: Who, going: Going, work: () => T | Promise<T>): Promise<T> {
    if (this.#running < this.#bounds.atOnce) this.#running += 1
    else await this.#turn(who, going.signal)
    try {
      return await work()
    } finally {
      if (this.#all === 0) this.#running -= 1
      // What works on what is in memory never waits for anything: one after the other would be all that happens.
      else setImmediate(() => this.#next())
    }
  }

  #turn(who: Who, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted === true) throw gone()
    const ofThem = this.#waiting.get(who.tenant)?.get(who.owner) ?? new Set()
    const { waitingMax, allMax = Number.POSITIVE_INFINITY } = this.#bounds
    if (this.#all >= allMax)
      throw new TryLater('rate_limited', `${this.#all} calls wait for their turn already`, RETRY_MS)
    if (ofThem.size >= waitingMax)
      throw new TryLater(
        'rate_limited',
        `${ofThem.size} calls of yours wait for their turn already`,
        RETRY_MS,
      )
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const begin = () => {
      signal?.removeEventListener('abort', leave)
      resolve()
    }
    const leave = () => {
      this.#drop(who, begin)
      reject(gone())
    }
    signal?.addEventListener('abort', leave, { once: true })
    this.#add(who, ofThem.add(begin))
    this.#all += 1
    return promise
  }

  /** Hands the turn of who has ended on. */
  #next(): void {
    const [tenant] = this.#waiting.keys()
    if (tenant === undefined) {
      this.#running -= 1
      return
    }
    const owners = this.#waiting.get(tenant)!
    const [owner] = owners.keys()
    const ofThem = owners.get(owner!)!
    const [begin] = ofThem
    this.#drop({ tenant, owner: owner! }, begin!)
    // What else they wait for comes after the others' next.
    if (owners.delete(owner!)) owners.set(owner!, ofThem)
    if (this.#waiting.delete(tenant)) this.#waiting.set(tenant, owners)
    begin!()
  }

  #add({ tenant, owner }: Who, ofThem: Set<Begin>): void {
    const owners = this.#waiting.get(tenant) ?? new Map<string, Set<Begin>>()
    this.#waiting.set(tenant, owners.set(owner, ofThem))
  }

  #drop({ tenant, owner }: Who, begin: Begin): void {
    const owners = this.#waiting.get(tenant)!
    const ofThem = owners.get(owner)!
    ofThem.delete(begin)
    this.#all -= 1
    if (ofThem.size === 0) owners.delete(owner)
    if (owners.size === 0) this.#waiting.delete(tenant)
  }
}

function gone(): WakefulError {
  return new WakefulError('invalid_request', 'the caller has gone before its turn came')
}
