import pg from 'pg'
import type { Evidence } from '../judge/evidence.ts'
import { type OccurrenceRow, recordOf } from '../judge/occurrence-row.ts'
import { readLedger } from './ledger.ts'
import { FORMER_OWNERS } from './postgres/audit.ts'

/** Runs one statement on a new connection, with retries while the server is down. */
export async function ask<T extends pg.QueryResultRow>(
  url: string,
  text: string,
  values: unknown[] = [],
): Promise<T[]> {
  for (let attempt = 1; ; attempt++) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
    client.on('error', () => {})
    try {
      await client.connect()
      return (await client.query<T>(text, values)).rows
    } catch (thrown) {
      if (
        attempt === 100 ||
        !/connect|ECONNRESET|starting up|terminat|shutting down|recovery/i.test(String(thrown))
      )
        throw thrown
      await new Promise((resolve) => setTimeout(resolve, 100))
    } finally {
      await client.end().catch(() => {})
    }
  }
}

/** Gathers the evidence of a campaign on PostgreSQL. */
export async function postgresEvidence(url: string, ledgerPath: string): Promise<Evidence> {
  const events = await ask<OccurrenceRow>(
    url,
    `SELECT e.seq::float8 AS seq, e.at::float8 AS at, e.type, a.id AS alarm_id, e.occurrence, e.data
     FROM wakeful.events e JOIN wakeful.alarms a ON a.seq = e.alarm WHERE e.occurrence IS NOT NULL ORDER BY e.seq`,
  )
  const effects = await ask<{ occurrence: string }>(url, 'SELECT occurrence FROM chaos_effects')
  const pending = await ask<{ id: string }>(
    url,
    'SELECT a.id FROM wakeful.timers t JOIN wakeful.alarms a ON a.seq = t.alarm',
  )
  const former = await ask<Record<string, string>>(url, FORMER_OWNERS)
  return {
    entries: readLedger(ledgerPath),
    log: events.map(recordOf),
    effects: effects.map((row) => row.occurrence),
    pending: pending.map((row) => row.id),
    formerOwners: former.map(
      ({ writer, owner, shard, epoch, type, occurrence }) =>
        `${writer} wrote ${type} of ${occurrence} in shard ${shard}, which was ${owner ?? 'nobody'}'s at epoch ${epoch}`,
    ),
  }
}

/** The end of the log, and the timers in flight in the shards of one process, or of all. */
export async function postgresMoment(
  url: string,
  pid: number | null,
): Promise<{ logEnd: number; inFlight: number }> {
  const [row] = await ask<{ log_end: number; in_flight: number }>(
    url,
    `SELECT coalesce((SELECT max(seq) FROM wakeful.events), 0)::float8 AS log_end,
       (SELECT count(*) FROM wakeful.in_flight_batches f JOIN wakeful.shards s ON s.shard = f.shard AND s.epoch = f.epoch
        CROSS JOIN LATERAL generate_series(1, cardinality(f.timers), 2) AS i
        JOIN wakeful.timers t ON t.id = f.timers[i] AND t.version = f.timers[i + 1]
        WHERE $1::text IS NULL OR split_part(s.holder, ':', 2) = $1)::float8 AS in_flight`,
    [pid === null ? null : String(pid)],
  )
  return { logEnd: row!.log_end, inFlight: row!.in_flight }
}

/** Inconsistencies of the rows after everything was drained and closed. */
export async function postgresDamage(url: string): Promise<string[]> {
  const [left] = await ask<{ batches: string; owned: string; owners: string }>(
    url,
    `SELECT (SELECT count(*) FROM wakeful.in_flight_batches) AS batches,
       (SELECT count(*) FROM wakeful.shards WHERE holder IS NOT NULL) AS owned,
       (SELECT count(*) FROM wakeful.processes) AS owners`,
  )
  const { batches, owned, owners } = left!
  return [
    ...(batches === '0' ? [] : [`${batches} batches are recorded as in flight although nothing is`]),
    ...(owned === '0' ? [] : [`${owned} shards are owned although everyone has closed`]),
    ...(owners === '0' ? [] : [`${owners} processes are still registered although all have closed`]),
    ...(await tallyDamage(url)),
  ]
}

const FIGURES = ['total', 'pending', 'fired', 'completed', 'failed', 'cancelled', 'timed_out'] as const

/** Compares the figures of `stats` with a recount. */
async function tallyDamage(url: string): Promise<string[]> {
  const recount = await ask<Record<string, string>>(
    url,
    `SELECT a.tenant, a.owner, count(*) AS total,
       count(*) FILTER (WHERE o.status IS NULL AND r.alarm IS NULL) AS pending,
       count(*) FILTER (WHERE o.status IS NULL AND r.alarm IS NOT NULL) AS fired,
       count(*) FILTER (WHERE o.status IN ('fired', 'completed')) AS completed,
       count(*) FILTER (WHERE o.status = 'failed') AS failed,
       count(*) FILTER (WHERE o.status = 'cancelled') AS cancelled,
       count(*) FILTER (WHERE o.status = 'timed_out') AS timed_out
     FROM wakeful.alarms a LEFT JOIN wakeful.outcomes o ON o.alarm = a.seq
     LEFT JOIN (SELECT DISTINCT t.alarm FROM wakeful.timers t JOIN wakeful.alarms b ON b.seq = t.alarm
       WHERE t.kind = 'report' AND t.generation = b.generation AND b.kind = 'once') r ON r.alarm = a.seq
     GROUP BY a.tenant, a.owner`,
  )
  const kept = await ask<Record<string, string>>(
    url,
    `SELECT tenant, owner, ${FIGURES.map((name) => `sum(${name}) AS ${name}`).join(', ')}
     FROM wakeful.tallies GROUP BY tenant, owner`,
  )
  return recount.flatMap((row) => {
    const tally = kept.find(({ tenant, owner }) => tenant === row.tenant && owner === row.owner)
    return FIGURES.filter((name) => Number(tally?.[name]) !== Number(row[name])).map(
      (name) => `stats say ${tally?.[name]} ${name}, the rows say ${row[name]}`,
    )
  })
}
