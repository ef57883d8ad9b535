import { NEXT_WAKE_PLANTED } from './planted-next-wake.ts'

/** An edit of the sources: the text, and its replacement. */
export interface Edit {
  readonly file: string
  readonly from: string
  readonly to: string
}

/** A bug in a variant of the sources, and the scenarios that must find it. */
export interface Planted {
  readonly bug: string
  readonly edits: readonly Edit[]
  /** A change of the tables. */
  readonly ddl?: string
  /** The scenarios in which it is hunted, in this order. */
  readonly scenarios: readonly string[]
}

const QUERIES = 'stores/postgres/sql/queries.ts'
const SETTLE = 'stores/postgres/claims/settle.ts'
const SHARE = ' ORDER BY s.shard FOR KEY SHARE OF s`'
const RECHECK = `SELECT \${TIMER}, xmax::text AS locked FROM`
const CLAIMED = ' AND timers.version = n.claimed AND timers.edited = 0 RETURNING timers.id'
const REMOVED = ' AND t.version = n.claimed AND t.edited = 0 RETURNING t.id'

/** All planted bugs. If the store has two safeguards, both are removed, because one alone shows nothing. */
export const PLANTED: readonly Planted[] = [
  {
    bug: 'a settle does not lock the shard (FOR KEY SHARE dropped)',
    edits: [{ file: QUERIES, from: SHARE, to: '`' }],
    scenarios: ['settle | takeover, delivered'],
  },
  {
    bug: 'a takeover slips past an open settle (no unique (shard, epoch), no lock on its key)',
    edits: [
      { file: QUERIES, from: 'LIMIT $4::bigint FOR UPDATE SKIP LOCKED) free', to: 'LIMIT $4::bigint) free' },
    ],
    ddl: 'ALTER TABLE wakeful.shards DROP CONSTRAINT shards_shard_epoch_key',
    scenarios: ['settle | takeover, delivered'],
  },
  {
    bug: 'a settle does not check the epoch',
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
    edits: [
      {
        file: QUERIES,
        from: 'WHERE shard = ANY($1::int[]) ORDER BY shard FOR NO KEY UPDATE`',
        to: 'WHERE shard = ANY($1::int[])`',
      },
    ],
    scenarios: ['claim | cancel, near'],
  },
  {
    bug: 'a claim does not lock the shard',
    edits: [
      {
        file: QUERIES,
        from: 'WHERE s.holder = $3 ORDER BY s.shard FOR NO KEY UPDATE OF s`\nexport const lockFree',
        to: 'WHERE s.holder = $3`\nexport const lockFree',
      },
    ],
    scenarios: ['claim | cancel, near'],
  },
  {
    bug: 'a claim locks and reads in one statement',
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
    scenarios: ['claim | cancel, near'],
  },
  {
    bug: 'a cancel does not check in-flight batches',
    edits: [
      {
        file: 'stores/postgres/rows/snapshots.ts',
        from: 'return { has: ({ id, version }) => recorded.has(named([id, version])) }',
        to: 'return recorded.size < 0 ? NONE_IN_FLIGHT : NONE_IN_FLIGHT',
      },
    ],
    scenarios: ['claim | cancel, near'],
  },
  {
    bug: 'a batch is not recorded as in flight before it is delivered',
    edits: [{ file: QUERIES, from: "string_to_array(timers, ',')::bigint[]", to: "'{}'::bigint[]" }],
    scenarios: ['claim | cancel, near'],
  },
  {
    bug: 'a takeover does not count what was in flight',
    edits: [
      { file: 'stores/postgres/claims/settle.ts', from: "{ kind: 'lost' }", to: "{ kind: 'released' }" },
    ],
    scenarios: ['settle | takeover and claim, recurring'],
  },
  {
    bug: 'a timer in flight is forgotten as soon as its settle answers',
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
    scenarios: ['two claims and a settle of one lease holder'],
  },
  {
    bug: 'a settle checks the timer but not its version',
    edits: [
      { file: QUERIES, from: CLAIMED, to: ' RETURNING timers.id' },
      { file: QUERIES, from: REMOVED, to: ' RETURNING t.id' },
    ],
    scenarios: ['settle whose answer is lost | next claim, recurring'],
  },
  {
    bug: 'a settle does not see that its alarm was edited',
    edits: [
      { file: QUERIES, from: CLAIMED, to: ' AND timers.version = n.claimed RETURNING timers.id' },
      { file: QUERIES, from: REMOVED, to: ' AND t.version = n.claimed RETURNING t.id' },
    ],
    scenarios: ['settle | cancel, recurring, delivered'],
  },
  {
    bug: 'an upsert does not mark timers in flight',
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
    bug: 'an upsert does not increase the generation of the alarm',
    edits: [
      {
        file: 'alarm/decisions/edit.ts',
        from: 'generation: alarm.generation + 1,\n    pausedAt',
        to: 'generation: alarm.generation,\n    pausedAt',
      },
    ],
    scenarios: ['claim | upsert by key to the same instant', 'settle | upsert by key, once, delivered'],
  },
  {
    bug: 'a cancel far from the instant locks no timer',
    edits: [{ file: QUERIES, from: 'ORDER BY t.id FOR UPDATE OF t`', to: 'ORDER BY t.id`' }],
    scenarios: ['claim | cancel, far'],
  },
  {
    bug: 'a claim does not see that a row is locked',
    edits: [{ file: QUERIES, from: RECHECK, to: `SELECT \${TIMER}, '0' AS locked FROM` }],
    scenarios: ['claim | cancel, far'],
  },
  {
    bug: 'two occurrences that end together each consider the other open',
    edits: [
      { file: SETTLE, from: 'session.rows(sql.lockTimersOfAlarms, seqs),', to: 'Promise.resolve([]),' },
    ],
    scenarios: ['two settles that end the last open occurrences of one alarm'],
  },
  {
    bug: 'a reader of the log does not wait for open writers',
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
    bug: 'a reader of the log skips a gap',
    edits: [
      {
        file: 'stores/postgres/reads/events.ts',
        from: 'readPage(session, source, names, query, await horizon.advance())',
        to: 'readPage(session, source, names, query, LAST_SERIAL)',
      },
    ],
    scenarios: ['reader of the log | two writers'],
  },
  {
    bug: 'a set that is due soon sends no notice',
    edits: [
      {
        file: 'stores/sharded/protocol.ts',
        from: 'if (notified.length === 0) return null',
        to: 'if (notified.length < 99) return null',
      },
    ],
    scenarios: ['set of another process | claim by a listening process'],
  },
  {
    bug: 'a notice during a scan is forgotten',
    edits: [
      {
        file: 'stores/sharded/next-wake-cache.ts',
        from: 'if (this.#written.has(null)) return null',
        to: 'this.#written.delete(null)',
      },
    ],
    scenarios: ['set of another process | claim by a listening process'],
  },
  {
    bug: 'a late heartbeat trusts what it read before the takeover',
    edits: [
      {
        file: 'stores/sharded/shard-leases.ts',
        from: 'const isCurrent = this.#takeovers === result.takeovers',
        to: 'const isCurrent = this.#takeovers === result.takeovers || result !== null',
      },
    ],
    scenarios: ['late heartbeat | takeover'],
  },
  {
    bug: 'a calendar is edited without waiting for transactions that use it',
    edits: [
      {
        file: 'stores/postgres/rows/calendars.ts',
        from: `  await session.plain(sql.lockCalendars)
  const named = [`,
        to: '  const named = [',
      },
    ],
    scenarios: ['calendar and recompute | settle'],
  },
  {
    bug: 'two concurrent sets of one key are not retried',
    edits: [
      {
        file: 'stores/postgres/writes/group-commit.ts',
        from: 'if (!isDuplicate(thrown) || attempt >= ATTEMPTS_MAX)',
        to: 'if (!isDuplicate(thrown) || attempt >= 1)',
      },
    ],
    scenarios: ['set | set, the same key'],
  },
  {
    bug: 'keys are locked in the order of the call',
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
    scenarios: ['two sets of two keys in opposite order | cancel of both'],
  },
  {
    bug: 'an edit locks timers before it locks shards',
    edits: [
      {
        file: 'stores/postgres/rows/snapshots.ts',
        from: 'if (round === 1 && missing.length > 0) session.send',
        to: 'session.send(sql.lockTimersOfAlarms, seqs)\n    if (missing.length > 0) session.send',
      },
    ],
    scenarios: ['timeout of the last report | cancel'],
  },
  {
    bug: 'a report before the settle is not looked up',
    edits: [{ file: 'alarm/decisions/report.ts', from: 'markEdited: [timer.id], reports', to: 'reports' }],
    scenarios: ['report | settle'],
  },
  {
    bug: 'a release wakes an alarm that was paused while it waited',
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
    bug: 'a claim queues behind an occurrence that is being settled',
    edits: [{ file: 'stores/postgres/claims/claim.ts', from: ' || isQueued(decision)', to: '' }],
    scenarios: ['settle that ends the open occurrence | claim that queues the next'],
  },
  {
    bug: 'a set is answered with an alarm that was pruned meanwhile',
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
    bug: 'an edit waits for a shard while it locks the alarm',
    edits: [
      {
        file: 'stores/postgres/rows/snapshots.ts',
        from: 'if (round === 1 && missing.length > 0)',
        to: 'if (missing.length > 0)',
      },
    ],
    scenarios: ['upsert that brings it near | cancel | pause'],
  },
  {
    bug: 'a user’s transaction fails because another caller set the same key in the meantime',
    edits: [
      {
        file: 'stores/postgres/writes/user-transactions.ts',
        from: 'attempt < ATTEMPTS_MAX',
        to: 'attempt < 1',
      },
    ],
    scenarios: ['set in a user’s transaction | set, the same new key'],
  },
  ...NEXT_WAKE_PLANTED,
]
