/** What a process sees of another. */
export interface OtherProcess {
  readonly process: string
  /** Grows with every heartbeat. */
  readonly heartbeats: number
  readonly leaseUntil: number
  readonly pools: readonly string[]
}

/** What a process sees of a shard. */
export interface SeenShard {
  readonly pool: string
  readonly shard: number
  readonly epoch: number
  readonly holder: string | null
}

/** What a heartbeat asks. */
export interface HeartbeatRequest {
  readonly process: string
  readonly pools: readonly string[]
  /** How long the lease lasts that it renews. */
  readonly leaseMs: number
  /** The next wake of each shard is looked for from this instant on. */
  readonly wakesFrom: number
}

/** What a heartbeat answers. */
export interface HeartbeatResult {
  /** Grows with every takeover from this process; another number too where its row was removed and made again. */
  readonly takeovers: number
  /** The clock of leases: the database's, or the one that was bound. */
  readonly now: number
  readonly others: readonly OtherProcess[]
  /** As they were when the statement began: a takeover that it waited for is not among them. */
  readonly shards: readonly SeenShard[]
  /** The next wake of each of this process's own shards; null where nothing waits. */
  readonly nextWakes: ReadonlyMap<number, number | null>
}

/** Which heartbeat of another process was seen last, and since when on this process's own clock. */
interface LastSeen {
  readonly heartbeats: number
  readonly since: number
}

/**
 * Tells which processes are dead. A lease ends by the database's clock. After a failover to a server whose clock is behind
 * or ahead that clock is wrong: so a process whose heartbeat has not moved for a whole lease on our own monotonic clock is
 * dead too, and only such a one while the clock has just jumped.
 */
export class LivenessTracker {
  readonly #leaseMs: number
  readonly #seen = new Map<string, LastSeen>()
  #jumpedAt = Number.NEGATIVE_INFINITY
  #last: { readonly now: number; readonly at: number } | null = null

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs
  }

  /** Takes in a heartbeat that was sent at one moment of the monotonic clock and answered at another. */
  observe(result: HeartbeatResult, sentAt: number, answeredAt: number): void {
    if (this.#last !== null && result.now - this.#last.now > answeredAt - this.#last.at + this.#leaseMs / 2)
      this.#jumpedAt = answeredAt
    this.#last = { now: result.now, at: sentAt }
    const names = new Set(result.others.map(({ process }) => process))
    for (const name of this.#seen.keys()) if (!names.has(name)) this.#seen.delete(name)
    for (const { process, heartbeats } of result.others) {
      if (this.#seen.get(process)?.heartbeats !== heartbeats)
        this.#seen.set(process, { heartbeats, since: answeredAt })
    }
  }

  /** Whether the clock has just jumped ahead, so that leases only seem to have ended. */
  hasJumped(at: number): boolean {
    return at - this.#jumpedAt < this.#leaseMs
  }

  /** Whether the other's heartbeat has not moved for a whole lease. */
  isSilent(other: OtherProcess, at: number): boolean {
    const seen = this.#seen.get(other.process)
    return seen !== undefined && seen.heartbeats === other.heartbeats && at - seen.since >= this.#leaseMs
  }

  isDead(other: OtherProcess, now: number, at: number): boolean {
    return this.isSilent(other, at) || (other.leaseUntil <= now && !this.hasJumped(at))
  }
}

/**
 * In how many milliseconds the first lease of another shard holder ends, of those that were not renewed for half a lease:
 * a live process renews earlier. Null where there is none.
 */
export function overdueMs(result: HeartbeatResult, leaseMs: number): number | null {
  const holders = new Set(result.shards.flatMap(({ holder }) => holder ?? []))
  const left = result.others
    .filter(({ process }) => holders.has(process))
    .map(({ leaseUntil }) => leaseUntil - result.now)
    .filter((leftMs) => leftMs > 0 && leftMs < leaseMs / 2)
  return left.length === 0 ? null : Math.min(...left)
}
