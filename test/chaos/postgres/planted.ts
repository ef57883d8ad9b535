import type { Planted } from '../plant.ts'

const STORE = 'src/stores/postgres'
const TESTS = 'test/chaos/postgres'

/** A short campaign with only these faults. */
function campaign(faults: Readonly<Record<string, number>>, ...more: readonly string[]): string[] {
  const none = { kills: 0, restarts: 0, cuts: 0, 'half-opens': 0, pauses: 0, alarms: 200, seed: 1 }
  const options = Object.entries({ ...none, ...faults }).flatMap(([name, count]) => [
    `--${name}`,
    String(count),
  ])
  return ['--store', 'postgres', ...options, ...more]
}

const KILLS = campaign({ kills: 5 }, '--true-clocks')

/** Bugs in the PostgreSQL store or the engine that the campaign or one of its short forms must find. */
export const POSTGRES_PLANTED: readonly Planted[] = [
  {
    bug: 'a settle checks neither its epoch nor the claimed version',
    edits: [
      {
        file: `${STORE}/claims/settle.ts`,
        from: 'return leases.filter(({ shard, epoch }) => own.get(shard) !== epoch)',
        to: 'return leases.filter(({ shard }) => own.size < 0 && shard < 0)',
      },
      {
        file: `${STORE}/sql/queries.ts`,
        from: 'AND t.version = n.claimed AND t.edited = 0 RETURNING t.id',
        to: 'RETURNING t.id',
      },
      { file: `${STORE}/claims/transactional-settle.ts`, from: '=== undefined) {', to: '=== null) {' },
    ],
    by: { campaign: campaign({ pauses: 5 }, '--true-clocks'), breaches: ['former_owner'] },
  },
  {
    bug: 'a restored connection does not listen again',
    edits: [
      {
        file: 'src/stores/sharded/listener.ts',
        from: 'await connection.listen()',
        to: 'if (this.#retryMs === RETRY_MS_MIN) await connection.listen()',
      },
    ],
    by: { test: 'a restored connection listens again', file: `${TESTS}/connections.test.ts` },
  },
  {
    bug: 'a half-open connection is never noticed',
    edits: [{ file: `${STORE}/connection/session.ts`, from: 'answer.then(cancel, cancel)', to: 'cancel()' }],
    by: { test: 'a half-open connection is noticed', file: `${TESTS}/connections.test.ts` },
  },
  {
    bug: 'a broken connection that is in use ends the process',
    edits: [{ file: `${STORE}/connection/database.ts`, from: "client.on('error', () => {})", to: '' }],
    by: { campaign: campaign({ cuts: 4 }, '--true-clocks'), breaches: ['error'] },
  },
  {
    bug: 'the log is read by number alone',
    edits: [
      {
        file: `${STORE}/reads/log-horizon.ts`,
        from: 'let open = await this.#writers()',
        to: 'let open = (await this.#writers()).intersection(new Set<string>())',
      },
    ],
    by: { test: 'a reader by cursor misses no event', file: `${TESTS}/processes.test.ts` },
  },
  {
    bug: 'a takeover does not recover what was in flight',
    edits: [
      {
        file: `${STORE}/claims/settle.ts`,
        from: 'if (shards.length === 0) return',
        to: 'if (shards.length >= 0) return',
      },
    ],
    by: { campaign: KILLS, breaches: ['uncounted', 'damage'] },
  },
  {
    bug: 'a set whose answer was lost is set again under another id',
    edits: [
      { file: `${STORE}/writes/group-commit.ts`, from: 'const requests = jobs', to: 'let requests = jobs' },
      {
        file: `${STORE}/writes/group-commit.ts`,
        from: 'if (await this.#areThere(requests)) return divided(jobs, requests.map(created))',
        to: "requests = requests.map((each) => ({ ...each, alarm: { ...each.alarm, id: each.alarm.id.slice(0, -4) + 'beef' } }))\n        if (attempt < 0) await this.#areThere(requests)",
      },
    ],
    by: { campaign: campaign({ 'half-opens': 12 }, '--true-clocks'), breaches: ['phantom'] },
  },
  {
    bug: 'a shard is taken over before its lease has ended',
    edits: [
      {
        file: `${STORE}/sql/queries.ts`,
        from: 'holder <> $1 AND (lease_until <=',
        to: 'holder <> $1 AND (lease_until - 60000 <=',
      },
      {
        file: 'src/stores/sharded/heartbeat.ts',
        from: '(other.leaseUntil <= now &&',
        to: '(other.leaseUntil <= now + 60_000 &&',
      },
    ],
    by: { campaign: campaign({ kills: 1 }, '--true-clocks'), breaches: ['duplicate'] },
  },
  {
    bug: 'a cancel does not check in-flight batches',
    edits: [
      {
        file: `${STORE}/rows/snapshots.ts`,
        from: 'readInFlight(session, [...locked])',
        to: 'readInFlight(session, [])',
      },
    ],
    by: {
      campaign: campaign({ kills: 3, alarms: 3_000 }, '--true-clocks'),
      breaches: ['after_cancel', 'unrecorded'],
    },
  },
  {
    bug: 'a handler writes outside the transaction of its settle',
    edits: [
      {
        file: `${STORE}/claims/transactional-settle.ts`,
        from: 'const settlement = await work(client)',
        to: "const settlement = await work(client)\n    await session.plain('COMMIT')\n    await new Promise((resolve) => setTimeout(resolve, 50))\n    await session.plain('BEGIN')\n    await session.plain('SAVEPOINT handler')",
      },
    ],
    by: { campaign: campaign({ kills: 8 }, '--true-clocks'), breaches: ['effect'] },
  },
  {
    bug: 'the wall clock of the process is trusted',
    edits: [
      {
        file: 'src/stores/sharded/protocol.ts',
        from: 'return Math.floor(at + this.#offsetAt(at))',
        to: 'return this.#host.now()',
      },
    ],
    by: { campaign: campaign({ kills: 2 }), breaches: ['early', 'lost', 'pending'] },
  },
  {
    bug: 'a scan has no lower bound',
    edits: [
      {
        file: 'src/stores/sharded/next-wake-cache.ts',
        from: 'return this.#bounds.get(shard) ?? START',
        to: 'return shard < 0 ? this.#bounds.get(shard)! : START',
      },
    ],
    by: { test: 'a snapshot that stays open causes no backlog', file: `${TESTS}/processes.test.ts` },
  },
  {
    bug: 'a process starts deliveries after its lease has ended',
    edits: [
      {
        file: 'src/engine/leases.ts',
        from: "return this.#ports.clock.monotonic() < leased.until ? 'yes' : 'wait'",
        to: "return 'yes'",
      },
    ],
    by: {
      test: 'a process that is cut off starts nothing after its lease has ended',
      file: `${TESTS}/processes.test.ts`,
    },
  },
]
