import type { Edit } from '../../chaos/plant.ts'

/** A bug that no simulated world shows, and why. */
export interface Masked {
  readonly bug: string
  readonly edits: readonly Edit[]
  readonly why: string
  /** Who finds it instead; null where nobody is known to. */
  readonly by: string | null
}

/** Bugs that simulated worlds have not shown in 200 seeds: a second safeguard hides them, or they cost time alone. */
export const MASKED: readonly Masked[] = [
  {
    bug: 'the loop waits twice as long after every error, for ever',
    edits: [
      { file: 'src/engine/engine.ts', from: '        waitMs = ERROR_WAIT_MS_MIN\n', to: '' },
      { file: 'src/engine/engine.ts', from: 'Math.min(waitMs * 2, ERROR_WAIT_MS_MAX)', to: 'waitMs * 2' },
    ],
    why: 'an error that lasts costs it its lease, and the renewed lease wakes it',
    by: null,
  },
  {
    bug: 'a reader of the log waits for a notification after it has read',
    edits: [
      { file: 'src/log/reader.ts', from: 'const notified = notifier.next(scope, options.signal)\n', to: '' },
      { file: 'src/log/reader.ts', from: 'await notified', to: 'await notifier.next(scope, options.signal)' },
    ],
    why: 'the next record notifies again: the reader is late, and misses nothing',
    by: null,
  },
  {
    bug: 'a settle does not ask for its epoch',
    edits: [
      {
        file: 'test/simulation/store/settle.ts',
        from: '.filter((lease) => !database.isOwn(lease))',
        to: '.filter(() => false)',
      },
    ],
    why: 'a takeover moves every timer in flight, so the version refuses what the epoch would have refused',
    by: 'interleavings: a settle does not check the epoch',
  },
  {
    bug: 'a lost lease breaks nothing off',
    edits: [{ file: 'src/engine/engine.ts', from: "this.#pool.break('lost', lease)", to: '' }],
    why: 'what it still delivers is settled in vain: only its handlers are not told to stop',
    by: null,
  },
  {
    bug: 'a closed engine does not wait for what it delivers',
    edits: [
      {
        file: 'src/engine/engine.ts',
        from: 'this.#running = this.#loop().then(() => this.#drain())',
        to: 'this.#running = this.#loop()',
      },
    ],
    why: 'what was under way is found in flight by the next owner, as after a kill: a needless second attempt',
    by: 'turns.test.ts: queued transactional handlers do not stretch a close',
  },
  {
    bug: 'the timer is trusted, and the clock not asked again',
    edits: [
      {
        file: 'src/engine/engine.ts',
        from: 'const context = this.#options.context()\n    const { clock, store, observer }',
        to: 'const asked = this.#options.context()\n    const context = { ...asked, now: Math.max(asked.now, Math.min(this.#nextWakeAt ?? 0, asked.now + 5)) }\n    const { clock, store, observer }',
      },
    ],
    why: 'the delivery pool reads the clock before each start, and gives back what is early',
    by: null,
  },
  {
    bug: 'a hint during a claim is dropped',
    edits: [
      {
        file: 'src/engine/engine.ts',
        from: 'if (!this.#isClaiming && isLater) return',
        to: 'if (this.#isClaiming || isLater) return',
      },
    ],
    why: 'the next beat finds it, two seconds later',
    by: null,
  },
  {
    bug: 'a lease that is renewed after its end does not wake the loop',
    edits: [
      {
        file: 'src/engine/engine.ts',
        from: 'if (gained || lapsed || this.#pool.queued > 0)',
        to: 'if (gained || (lapsed && this.#pool.queued > 0))',
      },
    ],
    why: 'the same beat measures the clock, and a clock that moves ends the sleep',
    by: null,
  },
  {
    bug: 'who died is told by the clock alone',
    edits: [
      {
        file: 'src/stores/sharded/heartbeat.ts',
        from: 'this.isSilent(other, at) || (other.leaseUntil <= now && !this.hasJumped(at))',
        to: 'other.leaseUntil <= now && !this.hasJumped(at)',
      },
    ],
    why: 'it takes a database whose clock is set back, which no plan does',
    by: 'heartbeat.test.ts: when its heartbeat has not moved for a lease on our own clock',
  },
  {
    bug: 'shards that are given back tell nobody',
    edits: [
      {
        file: 'src/stores/sharded/shard-leases.ts',
        from: 'await transaction.release(processes, leases)\n      transaction.notifyFreeShards()',
        to: 'await transaction.release(processes, leases)',
      },
    ],
    why: 'the next beat of another finds them, two seconds later',
    by: null,
  },
  {
    bug: 'shards are kept by who is over his share',
    edits: [
      {
        file: 'src/stores/sharded/shard-balance.ts',
        from: 'giveUp: Math.max(0, mine - share)',
        to: 'giveUp: 0',
      },
    ],
    why: 'one process does the work of another: slower, and nothing is broken',
    by: 'shard-balance.test.ts: over its share it gives up',
  },
  {
    bug: 'a bound is raised past what was written during the look',
    edits: [
      {
        file: 'src/stores/sharded/next-wake-cache.ts',
        from: 'return missed <= position.wakeAt ? ',
        to: 'return missed < 0 ? ',
      },
    ],
    why: 'a simulated statement looks and answers in one step, and the next beat looks from the start',
    by: 'interleavings: a scan raises its bound past what was written during it',
  },
  {
    bug: "what was written in a shard while it was another's is not looked for",
    edits: [{ file: 'src/stores/sharded/shard-leases.ts', from: 'nextWakes.lower(shard, 0)', to: '' }],
    why: 'the beat that brings the shard back tells its first wake as well',
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
    why: 'a simulated claim looks at what is in flight while it runs, not when its rows arrive',
    by: 'interleavings: a timer in flight is forgotten as soon as its settle answers',
  },
  {
    bug: 'a report that comes before its settle is forgotten',
    edits: [
      {
        file: 'src/stores/postgres/rows/apply.ts',
        from: 'for (const { id, ok, text } of change.reports ?? []) writes.report(id, JSON.stringify({ ok, text }))',
        to: '',
      },
    ],
    why: 'the occurrence ends as timed out: the judge does not hold what was reported against what was recorded',
    by: 'interleavings: a report before the settle is not looked up',
  },
  {
    bug: 'a hint is dropped',
    edits: [
      {
        file: 'src/engine/engine.ts',
        from: 'if (!this.#isClaiming && isLater) return',
        to: 'if (!isLater || this.#isClaiming) return',
      },
    ],
    why: 'the next beat finds it, within two seconds: late, and within the bound',
    by: 'open-test.test.ts: fires at its instant, to the millisecond, and not before',
  },
  {
    bug: 'a bound is not lowered by what is written below it',
    edits: [
      {
        file: 'src/stores/sharded/next-wake-cache.ts',
        from: '(shard === null || shard === known) && wakeAt <= bound.wakeAt',
        to: '(shard === null || shard === known) && wakeAt < bound.wakeAt - 60_000',
      },
    ],
    why: 'the next beat looks from the start',
    by: 'lookout.test.ts: is from where a look may begin, until something is written below',
  },
  {
    bug: 'what is soon due is told to nobody',
    edits: [
      {
        file: 'src/stores/sharded/protocol.ts',
        from: 'if (notified.length === 0) return null',
        to: 'if (notified.length < 99) return null',
      },
    ],
    why: 'the next beat finds it, within two seconds: late, and within the bound',
    by: 'conformance: a set of another process is visible, claimed and notified',
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
    by: 'database-faults.test.ts: leaves all processes listening',
  },
  {
    bug: 'a heartbeat that waited for a takeover believes what it saw before',
    edits: [
      {
        file: 'src/stores/sharded/shard-leases.ts',
        from: 'const isCurrent = holding.takeovers === result.takeovers',
        to: 'const isCurrent = holding.takeovers === result.takeovers || process !== null',
      },
    ],
    why: 'every claim and every settle checks the epoch: what it believes in vain lasts until the next of them',
    by: 'interleavings: a late heartbeat trusts what it read before the takeover',
  },
  {
    bug: 'a claim that was not answered leaves its batch in flight',
    edits: [
      {
        file: 'src/stores/sharded/claims.ts',
        from: 'const knownBatches = isUncertain ?',
        to: 'const knownBatches = isUncertain && leases.length < 0 ?',
      },
    ],
    why: 'what is in flight is claimed again by its own process; only a cancel answers wrongly that it fires',
    by: 'faults.test.ts: after a claim ran leaves a batch that the next claim of the same process removes',
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
    why: 'it has to be stopped between its heartbeat and its acquisition until it is removed, and killed before its next heartbeat',
    by: 'shard-leases.test.ts: do not grow while the process has no row',
  },
  {
    bug: 'heartbeats are bounded for ever',
    edits: [
      {
        file: 'src/stores/sharded/shard-leases.ts',
        from: 'if (this.#boundedLeft >= 0) return',
        to: 'if (this.#boundedLeft < BOUNDED_HEARTBEATS) return',
      },
    ],
    why: 'it takes something due for a minute of which no process was notified',
    by: 'shard-leases.test.ts: are renewed by heartbeats that look at recent wakes only',
  },
  {
    bug: 'what was locked when shards were acquired is not tried again',
    edits: [
      {
        file: 'src/stores/sharded/shard-leases.ts',
        from: 'if (missed > 0) heartbeatIn(LOCKED_AGAIN_MS)',
        to: '',
      },
    ],
    why: 'the next heartbeat tries again, two seconds later',
    by: 'shard-leases.test.ts: are tried again early where a shard was locked',
  },
]
