/** Another process, as this one sees it. */
export interface OtherProcess {
  readonly process: string
  /** Grows with every heartbeat. */
  readonly heartbeats: number
  readonly leaseUntil: number
  readonly pools: readonly string[]
}

/** A shard, as this process sees it. */
export interface SeenShard {
  readonly pool: string
  readonly shard: number
  readonly epoch: number
  readonly holder: string | null
}

/** The parameters of a heartbeat. */
export interface HeartbeatRequest {
  readonly process: string
  readonly pools: readonly string[]
  /** The duration of the lease that it renews. */
  readonly leaseMs: number
  /** The next wake of each shard is searched from this instant on. */
  readonly wakesFrom: number
}

/** The result of a heartbeat. */
export interface HeartbeatResult {
  /** Grows with every takeover from this process; also differs if its row was deleted and made again. */
  readonly takeovers: number
  /** The clock of leases: the database's, or the one that was bound. */
  readonly now: number
  readonly others: readonly OtherProcess[]
  /** As of the start of the statement: it does not show a takeover that it waited for. */
  readonly shards: readonly SeenShard[]
  /** The next wake of each of this process's shards; null if nothing waits. */
  readonly nextWakes: ReadonlyMap<number, number | null>
}

/** The last heartbeat that was seen of another process, and since when on this process's clock. */
interface LastSeen {
  readonly heartbeats: number
  readonly since: number
}

/**
 * Decides which processes are dead. A lease ends by the database's clock. After a failover, that clock may be wrong:
 * so a process is also dead if its heartbeats have not advanced for a whole lease on our monotonic clock, and only
 * then if the clock has just jumped.
 */
export class LivenessTracker {
  readonly #leaseMs: number
  readonly #seen = new Map<string, LastSeen>()
  #jumpedAt = Number.NEGATIVE_INFINITY
  #last: { readonly now: number; readonly at: number } | null = null

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs
  }

  /** Adds a heartbeat, with the moments of the monotonic clock when it was sent and answered. */
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

  /** Whether the other's heartbeats have not advanced for a whole lease. */
  isSilent(other: OtherProcess, at: number): boolean {
    const seen = this.#seen.get(other.process)
    return seen !== undefined && seen.heartbeats === other.heartbeats && at - seen.since >= this.#leaseMs
  }

  isDead(other: OtherProcess, now: number, at: number): boolean {
    return this.isSilent(other, at) || (other.leaseUntil <= now && !this.hasJumped(at))
  }
}

/**
 * The milliseconds until the first lease of another holder ends, among those not renewed for half a lease: a live
 * process renews earlier. Null if there is none.
 */
export function untilOverdueMs(result: HeartbeatResult, leaseMs: number): number | null {
  const holders = new Set(result.shards.flatMap(({ holder }) => holder ?? []))
  const left = result.others
    .filter(({ process }) => holders.has(process))
    .map(({ leaseUntil }) => leaseUntil - result.now)
    .filter((leftMs) => leftMs > 0 && leftMs < leaseMs / 2)
  return left.length === 0 ? null : Math.min(...left)
}
