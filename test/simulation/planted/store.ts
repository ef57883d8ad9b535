import type { Bug } from './bug.ts'

/**
 * Bugs in what the simulated store shares with PostgreSQL's, and in the simulated store where it stands for SQL.
 */
export const STORE_BUGS: readonly Bug[] = [
  {
    bug: 'the log is read past uncommitted events',
    breaches: ['log_missed'],
    edits: [
      {
        file: 'test/simulation/store/log.ts',
        from: 'if (next > after) database.assertWhole(next)',
        to: '',
      },
    ],
  },
  {
    bug: 'a settle checks neither its epoch nor the claimed version',
    breaches: ['recorded_twice', 'duplicate', 'lost', 'effect'],
    edits: [
      {
        file: 'test/simulation/store/settle.ts',
        from: '.filter((lease) => !database.isOwn(lease))',
        to: '.filter(() => false)',
      },
      { file: 'test/simulation/store/settle.ts', from: ' || row.timer.version !== claimed.version', to: '' },
    ],
  },
  {
    bug: 'a handler writes outside the transaction of its settle',
    breaches: ['effect'],
    edits: [
      {
        file: 'test/simulation/store/store.ts',
        from: '(batch) => settleIn(batch, tx, settlement),\n        tx,\n',
        to: '(batch) => settleIn(batch, tx, settlement),\n',
      },
    ],
  },
  {
    bug: 'a lease is counted from the answer to its heartbeat',
    breaches: ['unfenced', 'duplicate'],
    seeds: 500,
    edits: [
      {
        file: 'src/stores/sharded/shard-leases.ts',
        from: 'const until = sentAt + leaseMs',
        to: 'const until = answeredAt + leaseMs',
      },
    ],
  },
  {
    bug: 'a lease is renewed by the wall clock',
    breaches: ['unfenced', 'duplicate'],
    seeds: 1000,
    edits: [
      {
        file: 'src/stores/sharded/shard-leases.ts',
        from: 'const sentAt = clock.monotonic()\n    const result = await this.#send(pools, context)\n',
        to: 'const wall = clock.now()\n    const sentAt = clock.monotonic()\n    const result = await this.#send(pools, context)\n',
      },
      {
        file: 'src/stores/sharded/shard-leases.ts',
        from: 'const until = sentAt + leaseMs',
        to: 'const until = wall + leaseMs',
      },
      {
        file: 'src/stores/sharded/protocol.ts',
        from: 'return this.#host.monotonic()',
        to: 'return this.#host.now()',
      },
    ],
  },
  {
    bug: 'no process takes over from a dead one',
    breaches: ['late', 'lost'],
    edits: [
      {
        file: 'src/stores/sharded/shard-leases.ts',
        from: 'transaction.acquire(process, pool, dead, count)',
        to: 'transaction.acquire(process, pool, [], count)',
      },
    ],
  },
  {
    bug: 'deliveries in flight in an acquired shard are not recovered',
    breaches: ['uncounted'],
    edits: [
      {
        file: 'src/stores/sharded/shard-leases.ts',
        from: 'await transaction.recoverInFlight(',
        to: 'if (at < 0) await transaction.recoverInFlight(',
      },
    ],
  },
  {
    bug: 'a process with a late heartbeat is considered dead',
    breaches: ['unfenced', 'duplicate', 'late'],
    edits: [
      {
        file: 'src/stores/sharded/heartbeat.ts',
        from: 'at - seen.since >= this.#leaseMs',
        to: 'at - seen.since >= this.#leaseMs / 4',
      },
    ],
  },
  {
    bug: 'a claim does not check its lease',
    breaches: ['unfenced', 'duplicate'],
    edits: [
      {
        file: 'test/simulation/store/claims.ts',
        from: 'const lost = leases.filter((lease) => !busy.includes(lease) && !database.isHolder(lease))',
        to: 'const lost = leases.filter(() => false)',
      },
    ],
  },
  {
    bug: 'the clock is 30 ms ahead',
    breaches: ['early'],
    edits: [
      {
        file: 'src/stores/sharded/protocol.ts',
        from: 'return Math.floor(at + this.#offsetAt(at))',
        to: 'return Math.floor(at + this.#offsetAt(at)) + 30',
      },
    ],
  },
  {
    bug: 'the wall clock of the process is trusted',
    breaches: ['early', 'late', 'lost'],
    edits: [
      {
        file: 'src/stores/sharded/protocol.ts',
        from: 'return Math.floor(at + this.#offsetAt(at))',
        to: 'return this.#host.now()',
      },
    ],
  },
  {
    bug: 'the clock is measured at the middle of the round trip',
    breaches: ['early'],
    edits: [
      {
        file: 'src/stores/sharded/protocol.ts',
        from: 'const low = databaseNow - answeredAt',
        to: 'const low = databaseNow - (sentAt + answeredAt) / 2',
      },
    ],
  },
  {
    bug: 'the uncertainty of the clock does not grow',
    breaches: ['early', 'late'],
    edits: [
      {
        file: 'src/stores/sharded/protocol.ts',
        from: 'return this.#offset - Math.max(0, at - this.#sampledAt) * DRIFT',
        to: 'return this.#offset - Math.min(0, at - this.#sampledAt) * DRIFT',
      },
    ],
  },
  {
    bug: 'an alarm is found by its id in any scope',
    breaches: ['isolated'],
    edits: [
      {
        file: 'test/simulation/store/snapshots.ts',
        from: 'return alarm !== undefined && isSeen(scope, alarm) ? seq : undefined',
        to: 'return alarm === undefined || isSeen === undefined ? undefined : seq',
      },
    ],
  },
  {
    bug: 'an alarm is found by its id within the tenant',
    breaches: ['isolated'],
    edits: [
      {
        file: 'test/simulation/store/snapshots.ts',
        from: 'return alarm !== undefined && isSeen(scope, alarm) ? seq : undefined',
        to: 'return alarm !== undefined && isSeen({ ...alarm, tenant: scope.tenant ?? alarm.tenant }, alarm) ? seq : undefined',
      },
    ],
  },
  {
    bug: 'shares of shards are rounded down',
    breaches: ['late', 'lost'],
    edits: [
      {
        file: 'src/stores/sharded/shard-balance.ts',
        from: ' + (rank < shards % live ? 1 : 0)',
        to: ' + (rank < 0 ? 1 : 0)',
      },
    ],
  },
  {
    bug: 'dead processes count as live',
    breaches: ['late', 'lost'],
    edits: [
      {
        file: 'src/stores/sharded/shard-balance.ts',
        from: 'heartbeat.others.filter((other) => !isDead(other))',
        to: 'heartbeat.others.filter((other) => !isDead(other) || true)',
      },
    ],
  },
  {
    bug: 'a known idempotency key is set again',
    breaches: ['phantom'],
    edits: [
      {
        file: 'test/simulation/store/sets.ts',
        from: 'if (first !== undefined) return',
        to: 'if (first === null) return',
      },
    ],
  },
  {
    bug: 'a heartbeat never leaves a listening connection that is broken',
    breaches: ['late', 'lost'],
    edits: [
      {
        file: 'src/stores/sharded/listener.ts',
        from: 'this.#drop(connection)\n      return statements.heartbeat(request)',
        to: 'throw thrown',
      },
    ],
  },
  {
    bug: 'a shard that was locked during a claim is never claimed from again',
    breaches: ['late', 'lost', 'unrecorded'],
    edits: [
      {
        file: 'src/stores/sharded/claims.ts',
        from: 'if (until > this.#clock.monotonic()) return true',
        to: 'if (until > 0) return true',
      },
    ],
  },
  {
    bug: 'a heartbeat that could not be sent is the last one',
    breaches: ['late', 'lost', 'unrecorded'],
    edits: [
      {
        file: 'src/stores/sharded/shard-leases.ts',
        from: 'this.#lastTurn = turn.catch(() => {})',
        to: 'this.#lastTurn = turn\n    turn.catch(() => {})',
      },
    ],
  },
]
