import type { Edit } from '../../chaos/plant.ts'

/** A bug that no simulated world shows, and why. */
export interface Masked {
  readonly bug: string
  readonly edits: readonly Edit[]
  readonly why: string
  /** Who finds it instead; null where nobody is known to. */
  readonly by: string | null
}

/** Bugs that no simulated world has shown, of 200 seeds for each: a second safeguard hides them, or they cost time alone. */
export const MASKED: readonly Masked[] = [
  {
    bug: 'the loop doubles its wait after every error without a limit',
    edits: [
      { file: 'src/engine/engine.ts', from: '        waitMs = ERROR_WAIT_MS_MIN\n', to: '' },
      { file: 'src/engine/engine.ts', from: 'Math.min(waitMs * 2, ERROR_WAIT_MS_MAX)', to: 'waitMs * 2' },
    ],
    why: 'a lasting error costs the process its lease, and the renewed lease wakes the loop',
    by: null,
  },
  {
    bug: 'a reader of the log waits for a notification after it has read',
    edits: [
      { file: 'src/log/reader.ts', from: 'const notified = notifier.next(scope, signal)\n', to: '' },
      { file: 'src/log/reader.ts', from: 'await notified', to: 'await notifier.next(scope, signal)' },
    ],
    why: 'the next record notifies again: the reader is late but misses nothing',
    by: null,
  },
  {
    bug: 'a settle in the simulated store does not check its epoch',
    edits: [
      {
        file: 'test/simulation/store/settle.ts',
        from: '.filter((lease) => !database.isOwn(lease))',
        to: '.filter(() => false)',
      },
    ],
    why: 'a takeover changes the version of every timer in flight, so the version check rejects it, too',
    by: 'interleavings: a settle does not check the epoch',
  },
  {
    bug: 'a lost lease aborts no delivery',
    edits: [{ file: 'src/engine/engine.ts', from: "this.#pool.break('lost', lease)", to: '' }],
    why: 'the results of its remaining deliveries are rejected anyway; the only effect is that their handlers keep running',
    by: null,
  },
  {
    bug: 'a closing engine does not wait for its deliveries',
    edits: [
      {
        file: 'src/engine/engine.ts',
        from: 'this.#running = this.#loop().then(() => this.#drain())',
        to: 'this.#running = this.#loop()',
      },
    ],
    why: 'the next lease holder finds them in flight, as after a kill: an unnecessary second attempt',
    by: 'src/engine/turns.test.ts',
  },
  {
    bug: 'the loop trusts the timer without reading the clock',
    edits: [
      {
        file: 'src/engine/engine.ts',
        from: 'const context = this.#options.context()\n    const { clock, store, observer }',
        to: 'const asked = this.#options.context()\n    const context = { ...asked, now: Math.max(asked.now, Math.min(this.#nextWakeAt ?? 0, asked.now + 5)) }\n    const { clock, store, observer }',
      },
    ],
    why: 'the delivery pool reads the clock before each start and releases what is early',
    by: null,
  },
  {
    bug: 'a notice of an earlier alarm that arrives during a claim is ignored',
    edits: [
      {
        file: 'src/engine/engine.ts',
        from: 'if (!this.#isClaiming && isLater) return',
        to: 'if (this.#isClaiming || isLater) return',
      },
    ],
    why: 'the next heartbeat finds it, two seconds later',
    by: null,
  },
  {
    bug: 'a lease renewed after its end does not wake the loop',
    edits: [
      {
        file: 'src/engine/engine.ts',
        from: 'if (gained || lapsed || this.#pool.queued > 0)',
        to: 'if (gained || (lapsed && this.#pool.queued > 0))',
      },
    ],
    why: 'the same heartbeat samples the clock, which ends the sleep',
    by: null,
  },
  {
    bug: 'dead processes are detected by the clock alone',
    edits: [
      {
        file: 'src/stores/sharded/heartbeat.ts',
        from: 'this.isSilent(other, at) || (other.leaseUntil <= now && !this.hasJumped(at))',
        to: 'other.leaseUntil <= now && !this.hasJumped(at)',
      },
    ],
    why: 'it needs a database whose clock is set back, which no plan does',
    by: 'src/stores/sharded/heartbeat.test.ts',
  },
  {
    bug: 'released shards send no notice',
    edits: [
      {
        file: 'src/stores/sharded/shard-leases.ts',
        from: 'await free(transaction)\n        transaction.notifyFreeShards()',
        to: 'await free(transaction)',
      },
    ],
    why: 'the next heartbeat of another process finds them, two seconds later',
    by: null,
  },
  {
    bug: 'a process keeps more than its share of shards',
    edits: [
      {
        file: 'src/stores/sharded/shard-balance.ts',
        from: 'release: Math.max(0, mine - share)',
        to: 'release: 0',
      },
    ],
    why: 'one process does the work of another, which is only slower',
    by: 'src/stores/sharded/shard-balance.test.ts',
  },
  {
    bug: 'the position up to which a shard counts as scanned (the bound) moves past a timer that was written during the scan',
    edits: [
      {
        file: 'src/stores/sharded/next-wake-cache.ts',
        from: 'return missed <= position.wakeAt ? ',
        to: 'return missed < 0 ? ',
      },
    ],
    why: 'a simulated statement reads and answers in one step, and the next heartbeat scans from the start',
    by: 'interleavings: a scan moves the bound past a timer that was written during the scan',
  },
  {
    bug: 'what another process wrote to a shard is not looked up',
    edits: [{ file: 'src/stores/sharded/shard-leases.ts', from: 'nextWakes.forget(shard)', to: '' }],
    why: 'the heartbeat that reacquires the shard returns its first wake, too',
    by: 'interleavings: cached bounds of a shard are trusted when it is reacquired',
  },
  {
    bug: 'a timer in flight is forgotten as soon as its settle answers',
    edits: [
      {
        file: 'src/engine/in-flight-set.ts',
        from: 'this.#settled.push({ id, version, atClaim: this.#claims })',
        to: 'if (this.has(id, version)) this.#versions.delete(id)',
      },
    ],
    why: 'a simulated claim reads what is in flight while it runs, not when its rows arrive',
    by: 'interleavings: a timer in flight is forgotten as soon as its settle answers',
  },
  {
    bug: 'a report before its settle is forgotten',
    edits: [
      {
        file: 'src/stores/apply.ts',
        from: 'for (const { id, ok, text } of change.reports ?? NONE)\n    writes.storeEarlyReport(id, JSON.stringify({ ok, text }))',
        to: '',
      },
    ],
    why: 'the occurrence ends as timed out, and the judge does not compare reports with records here',
    by: 'interleavings: a report before the settle is not looked up',
  },
  {
    bug: 'a notice of an earlier alarm is ignored',
    edits: [
      {
        file: 'src/engine/engine.ts',
        from: 'if (!this.#isClaiming && isLater) return',
        to: 'if (!isLater || this.#isClaiming) return',
      },
    ],
    why: 'the next heartbeat finds it within two seconds: late, but within the limit of ten seconds',
    by: 'src/testing/open-test.test.ts',
  },
  {
    bug: 'a timer that is written below the bound does not lower it',
    edits: [
      {
        file: 'src/stores/sharded/next-wake-cache.ts',
        from: '(shard === null || shard === known) && wakeAt <= bound.wakeAt',
        to: '(shard === null || shard === known) && wakeAt < bound.wakeAt - 60_000',
      },
    ],
    why: 'the next heartbeat scans from the start',
    by: 'src/stores/sharded/next-wake-cache.test.ts',
  },
  {
    bug: 'a timer due soon sends no notice',
    edits: [
      {
        file: 'src/stores/sharded/protocol.ts',
        from: 'if (notified.length === 0) return null',
        to: 'if (notified.length < 99) return null',
      },
    ],
    why: 'the next heartbeat finds it within two seconds: late, but within the limit of ten seconds',
    by: 'src/stores/conformance/ownership.ts',
  },
  {
    bug: 'a process that was cut off does not listen again',
    edits: [
      {
        file: 'src/stores/sharded/listener.ts',
        from: 'if (!this.#isStarted) return\n    this.#cancelRetry',
        to: 'if (this.#isStarted) return\n    this.#cancelRetry',
      },
    ],
    why: 'its heartbeats find what it is not notified of, within two seconds',
    by: 'test/simulation/database-faults.test.ts',
  },
  {
    bug: 'a heartbeat that waited for a takeover trusts what it read before',
    edits: [
      {
        file: 'src/stores/sharded/shard-leases.ts',
        from: 'const isCurrent = this.#takeovers === result.takeovers',
        to: 'const isCurrent = this.#takeovers === result.takeovers || result !== null',
      },
    ],
    why: 'every claim and settle checks the epoch, so the error lasts until the next of them',
    by: 'interleavings: a late heartbeat trusts what it read before the takeover',
  },
  {
    bug: 'an unanswered claim leaves its batch in flight',
    edits: [
      {
        file: 'src/stores/sharded/claims.ts',
        from: 'const knownBatches = isUncertain ?',
        to: 'const knownBatches = isUncertain && leases.length < 0 ?',
      },
    ],
    why: 'its process claims it again; the only effect is that a cancel returns firing although nothing runs',
    by: 'test/simulation/store/faults.test.ts',
  },
  {
    bug: 'a process whose row was removed acquires shards',
    edits: [
      {
        file: 'src/stores/sharded/shard-leases.ts',
        from: 'if (!(await transaction.lockProcess(process))) return []',
        to: 'await transaction.lockProcess(process)',
      },
    ],
    why: 'it needs a rare sequence: the process is suspended between a heartbeat and the acquisition, another process removes its row meanwhile, and it is killed after the acquisition and before its next heartbeat, which would insert the row again',
    by: 'src/stores/sharded/shard-leases.test.ts',
  },
  {
    bug: 'heartbeats never scan from the start',
    edits: [
      {
        file: 'src/stores/sharded/shard-leases.ts',
        from: 'if (this.#recentOnlyLeft >= 0) return',
        to: 'if (this.#recentOnlyLeft < RECENT_ONLY_HEARTBEATS) return',
      },
    ],
    why: 'it needs a timer overdue by a minute of which no process was notified',
    by: 'src/stores/sharded/shard-leases.test.ts',
  },
  {
    bug: 'shards that were locked during an acquisition are not retried',
    edits: [
      {
        file: 'src/stores/sharded/shard-leases.ts',
        from: 'if (missed > 0) requestHeartbeat(LOCKED_AGAIN_MS)',
        to: '',
      },
    ],
    why: 'the next heartbeat retries, two seconds later',
    by: 'src/stores/sharded/shard-leases.test.ts',
  },
]
