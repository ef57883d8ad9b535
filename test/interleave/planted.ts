import { LOOKOUT_PLANTED } from './planted-next-wake.ts'

/** A fault in the sources: what is said there, and what is said instead. */
export interface Edit {
  readonly file: string
  readonly from: string
  readonly to: string
}

/** A bug that is really there in a variant of the sources, and what must find it. */
export interface Planted {
  readonly bug: string
  /** The hazard it stands for. */
  readonly hazard: number
  readonly edits: readonly Edit[]
  /** What is spoilt in the tables. */
  readonly ddl?: string
  /** Where it is looked for, in this order. */
  readonly scenarios: readonly string[]
}

const QUERIES = 'stores/postgres/sql/queries.ts'
const SETTLE = 'stores/postgres/claims/settle.ts'
const SHARE = ' ORDER BY s.shard FOR KEY SHARE OF s`'
const RECHECK = `SELECT \${TIMER}, xmax::text AS locked FROM`
const TAKEN = ' AND timers.version = n.claimed AND timers.edited = 0 RETURNING timers.id'
const REMOVED = ' AND t.version = n.claimed AND t.edited = 0 RETURNING t.id'

/** Every planted bug. Where the store has two lines of defence, both are taken away: one alone shows nothing. */
export const PLANTED: readonly Planted[] = [
  {
    bug: 'a settle does not hold the shard (FOR KEY SHARE dropped)',
    hazard: 1,
    edits: [{ file: QUERIES, from: SHARE, to: '`' }],
    scenarios: ['settle | takeover, delivered'],
  },
  {
    bug: 'a takeover slips past an open settle (no unique (shard, epoch), no lock on its key)',
    hazard: 1,
    edits: [
      { file: QUERIES, from: 'LIMIT $4::bigint FOR UPDATE SKIP LOCKED) free', to: 'LIMIT $4::bigint) free' },
    ],
    ddl: 'ALTER TABLE wakeful.shards DROP CONSTRAINT shards_shard_epoch_key',
    scenarios: ['settle | takeover, delivered'],
  },
  {
    bug: 'the epoch is not checked by a settle',
    hazard: 1,
    edits: [
      {
        file: SETTLE,
        from: 'return leases.filter(({ shard, epoch }) => own.get(shard) !== epoch)',
        to: 'return own.size < 0 ? leases : []',
      },
    ],
    scenarios: ['settle | takeover, delivered'],
  },
  {
    bug: 'an edit close to the instant locks no shard',
    hazard: 1,
    edits: [
      {
        file: QUERIES,
        from: 'WHERE shard = ANY($1::int[]) ORDER BY shard FOR NO KEY UPDATE`',
        to: 'WHERE shard = ANY($1::int[])`',
      },
    ],
    scenarios: ['take | cancel, near'],
  },
  {
    bug: 'a take does not lock the shard',
    hazard: 4,
    edits: [
      {
        file: QUERIES,
        from: 'WHERE s.holder = $3 ORDER BY s.shard FOR NO KEY UPDATE OF s`\nexport const lockFree',
        to: 'WHERE s.holder = $3`\nexport const lockFree',
      },
    ],
    scenarios: ['take | cancel, near'],
  },
  {
    bug: 'a take locks and looks in one statement',
    hazard: 4,
    edits: [
      {
        file: QUERIES,
        from: 'WHERE s.holder = $3 ORDER BY s.shard FOR NO KEY UPDATE OF s`\nexport const lockFree',
        to: 'WHERE s.holder = $3`\nexport const lockFree',
      },
      { file: QUERIES, from: RECHECK, to: `SELECT \${TIMER}, '0' AS locked FROM` },
      {
        file: QUERIES,
        from: `export const dueTimers = \`SELECT \${qualified('t', TIMER_COLUMNS)}, t.locked
  FROM unnest($1::int[], $2::bigint[], $3::bigint[]) AS s (shard, low, low_id)`,
        to: `export const dueTimers = \`WITH own AS MATERIALIZED (SELECT shard FROM wakeful.shards WHERE shard = ANY($1::int[]) FOR NO KEY UPDATE)
  SELECT \${qualified('t', TIMER_COLUMNS)}, t.locked
  FROM unnest($1::int[], $2::bigint[], $3::bigint[]) AS s (shard, low, low_id) JOIN own ON own.shard = s.shard`,
      },
    ],
    scenarios: ['take | cancel, near'],
  },
  {
    bug: 'a cancel does not look at flights',
    hazard: 2,
    edits: [
      {
        file: 'stores/postgres/rows/snapshots.ts',
        from: 'return { has: ({ id, version }) => recorded.has(named([id, version])) }',
        to: 'return recorded.size < 0 ? NONE_IN_FLIGHT : NONE_IN_FLIGHT',
      },
    ],
    scenarios: ['take | cancel, near'],
  },
  {
    bug: 'a batch is not recorded as in flight before it is delivered',
    hazard: 2,
    edits: [{ file: QUERIES, from: "string_to_array(timers, ',')::bigint[]", to: "'{}'::bigint[]" }],
    scenarios: ['take | cancel, near'],
  },
  {
    bug: 'a takeover does not count what was in flight',
    hazard: 2,
    edits: [
      { file: 'stores/postgres/claims/settle.ts', from: "{ kind: 'lost' }", to: "{ kind: 'released' }" },
    ],
    scenarios: ['settle | takeover and take, recurring'],
  },
  {
    bug: 'what is in flight is forgotten as soon as its settle answers',
    hazard: 3,
    edits: [
      {
        file: 'engine/in-flight-set.ts',
        from: 'this.#settled.push({ id, version, atClaim: this.#claims })',
        to: 'if (this.has(id, version)) this.#versions.delete(id)',
      },
      {
        file: 'stores/sharded/next-wake-cache.ts',
        from: 'if (isBelow || beganAtBound) this.#bounds.set(shard, seen)',
        to: 'if (isBelow) this.#bounds.delete(shard)',
      },
    ],
    scenarios: ['two takes and a settle of one owner'],
  },
  {
    bug: 'a settle goes by the timer alone, not by its version',
    hazard: 5,
    edits: [
      { file: QUERIES, from: TAKEN, to: ' RETURNING timers.id' },
      { file: QUERIES, from: REMOVED, to: ' RETURNING t.id' },
    ],
    scenarios: ['settle whose answer is lost | next take, recurring'],
  },
  {
    bug: 'a settle does not see that its alarm was edited',
    hazard: 5,
    edits: [
      { file: QUERIES, from: TAKEN, to: ' AND timers.version = n.claimed RETURNING timers.id' },
      { file: QUERIES, from: REMOVED, to: ' AND t.version = n.claimed RETURNING t.id' },
    ],
    scenarios: ['settle | cancel, recurring, delivered'],
  },
  {
    bug: 'an upsert does not mark what is in flight',
    hazard: 5,
    edits: [
      {
        file: 'alarm/decisions/edit.ts',
        from: 'markEdited: inFlightIds(snapshot),\n    outcome: null',
        to: 'outcome: null',
      },
    ],
    scenarios: ['settle | upsert by key, once, delivered', 'settle | upsert by key, recurring, delivered'],
  },
  {
    bug: 'a generation is not part of an upsert',
    hazard: 5,
    edits: [
      {
        file: 'alarm/decisions/edit.ts',
        from: 'generation: alarm.generation + 1,\n    pausedAt',
        to: 'generation: alarm.generation,\n    pausedAt',
      },
    ],
    scenarios: ['take | upsert by key to the same instant', 'settle | upsert by key, once, delivered'],
  },
  {
    bug: 'a cancel far from the instant locks no timer',
    hazard: 1,
    edits: [{ file: QUERIES, from: 'ORDER BY t.id FOR UPDATE OF t`', to: 'ORDER BY t.id`' }],
    scenarios: ['take | cancel, far'],
  },
  {
    bug: 'a take does not see that a row is locked',
    hazard: 4,
    edits: [{ file: QUERIES, from: RECHECK, to: `SELECT \${TIMER}, '0' AS locked FROM` }],
    scenarios: ['take | cancel, far'],
  },
  {
    bug: 'two that end together each take the other for open',
    hazard: 5,
    edits: [
      { file: SETTLE, from: 'session.rows(sql.lockTimersOfAlarms, seqs),', to: 'Promise.resolve([]),' },
    ],
    scenarios: ['two settles of one alarm: the last open ones end it'],
  },
  {
    bug: 'a reader of the log does not wait for open writers',
    hazard: 8,
    edits: [
      {
        file: 'stores/postgres/reads/log-horizon.ts',
        from: 'open.size > 0; step',
        to: 'open.size > 99; step',
      },
    ],
    scenarios: ['reader of the log | two writers'],
  },
  {
    bug: 'a reader of the log goes past the gap',
    hazard: 8,
    edits: [
      {
        file: 'stores/postgres/reads/events.ts',
        from: 'page(await horizon.advance())',
        to: 'page(Number.MAX_SAFE_INTEGER)',
      },
    ],
    scenarios: ['reader of the log | two writers'],
  },
  {
    bug: 'a set that is soon due is told to nobody',
    hazard: 9,
    edits: [
      {
        file: 'stores/sharded/protocol.ts',
        from: 'if (notified.length === 0) return null',
        to: 'if (notified.length < 99) return null',
      },
    ],
    scenarios: ['set of another process | take of one that listens'],
  },
  {
    bug: 'news that come during a look are forgotten by it',
    hazard: 9,
    edits: [
      {
        file: 'stores/sharded/next-wake-cache.ts',
        from: 'if (this.#written.has(null)) return null',
        to: 'this.#written.delete(null)',
      },
    ],
    scenarios: ['set of another process | take of one that listens'],
  },
  {
    bug: 'a late heartbeat believes what it saw before the takeover',
    hazard: 14,
    edits: [
      {
        file: 'stores/sharded/shard-leases.ts',
        from: 'const isCurrent = holding.takeovers === result.takeovers',
        to: 'const isCurrent = holding.takeovers === result.takeovers || process !== null',
      },
    ],
    scenarios: ['late heartbeat | takeover'],
  },
  {
    bug: 'a calendar is edited without waiting for those who decide by it',
    hazard: 5,
    edits: [
      {
        file: 'stores/postgres/rows/calendars.ts',
        from: `  await session.plain(sql.lockCalendars)
  const named = [`,
        to: '  const named = [',
      },
    ],
    scenarios: ['calendar and review | settle'],
  },
  {
    bug: 'the same key set twice at once is not tried again',
    hazard: 7,
    edits: [
      {
        file: 'stores/postgres/writes/writers.ts',
        from: 'if (!isDuplicate(thrown) || attempt >= ATTEMPTS_MAX)',
        to: 'if (!isDuplicate(thrown) || attempt >= 1)',
      },
    ],
    scenarios: ['set | set, the same key'],
  },
  {
    bug: 'keys are locked in the order in which they are named',
    hazard: 7,
    edits: [
      {
        file: 'stores/postgres/writes/sets.ts',
        from: '[...seqs].sort(bySerial)',
        to: 'seqs.length < 0 ? seqs.sort(bySerial) : seqs',
      },
      {
        file: QUERIES,
        from: 'SELECT seq FROM wakeful.alarms WHERE seq = ANY($1::bigint[]) ORDER BY seq FOR NO KEY UPDATE`',
        to: 'SELECT a.seq FROM unnest($1::bigint[]) WITH ORDINALITY AS n (seq, place) JOIN wakeful.alarms a ON a.seq = n.seq ORDER BY n.place FOR NO KEY UPDATE OF a`',
      },
    ],
    scenarios: ['two sets of two keys, crosswise | cancel of both'],
  },
  {
    bug: 'an edit locks timers before it locks shards',
    hazard: 1,
    edits: [
      {
        file: 'stores/postgres/rows/locks.ts',
        from: 'if (round === 1 && missing.length > 0) session.send',
        to: 'session.send(sql.lockTimersOfAlarms, seqs)\n    if (missing.length > 0) session.send',
      },
    ],
    scenarios: ['time-out of the last report | cancel'],
  },
  {
    bug: 'a report that comes before the settle is not looked for',
    hazard: 5,
    edits: [{ file: 'alarm/decisions/report.ts', from: 'markEdited: [timer.id], reports', to: 'reports' }],
    scenarios: ['report | settle'],
  },
  {
    bug: 'a release wakes what was parked while it waited',
    hazard: 5,
    edits: [
      {
        file: 'stores/postgres/claims/waiting.ts',
        from: "WHERE waiting = 'handler' AND id IN (",
        to: 'WHERE id IN (',
      },
    ],
    scenarios: ['pause | release of what waits for its handler'],
  },
  {
    bug: 'a take queues behind one that is just being settled',
    hazard: 5,
    edits: [{ file: 'stores/postgres/claims/claim.ts', from: ' || isQueued(decision)', to: '' }],
    scenarios: ['settle that ends the open one | take that queues the next'],
  },
  {
    bug: 'a set is answered with an alarm that was pruned meanwhile',
    hazard: 7,
    edits: [
      {
        file: 'stores/postgres/writes/sets.ts',
        from: 'if (snapshot === undefined) continue',
        to: "if (snapshot === undefined) {\n      answers.set(index, { outcome: 'replaced', snapshot: snapshot! })\n      continue\n    }",
      },
    ],
    scenarios: ['prune | set, the same key'],
  },
  {
    bug: 'an edit waits for a shard while it holds the alarm',
    hazard: 1,
    edits: [
      {
        file: 'stores/postgres/rows/locks.ts',
        from: 'if (round === 1 && missing.length > 0)',
        to: 'if (missing.length > 0)',
      },
    ],
    scenarios: ['upsert that brings it near | cancel | pause'],
  },
  {
    bug: 'a key that was set meanwhile is refused to a user’s transaction',
    hazard: 7,
    edits: [
      {
        file: 'stores/postgres/writes/user-transactions.ts',
        from: 'attempt < ATTEMPTS_MAX',
        to: 'attempt < 1',
      },
    ],
    scenarios: ['set in a user’s transaction | set, the same new key'],
  },
  ...LOOKOUT_PLANTED,
]
