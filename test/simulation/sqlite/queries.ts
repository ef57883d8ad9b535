import { ALARM_COLUMNS } from '../../../src/stores/index.ts'

/** Queries by which the test reads the file. */

export const ownerOf = `SELECT s.holder AS owner FROM wakeful_alarms a JOIN wakeful_timers t ON t.alarm = a.seq
  JOIN wakeful_shards s ON s.shard = t.shard WHERE a.id = ? LIMIT 1`

export const batchesOf = `SELECT f.* FROM wakeful_in_flight_batches f JOIN wakeful_shards s ON s.shard = f.shard WHERE s.holder = ?`

/** Those of the current lease holders. */
export const currentBatches = `SELECT f.* FROM wakeful_in_flight_batches f
  JOIN wakeful_shards s ON s.shard = f.shard AND s.epoch = f.epoch`

export const logEnd = 'SELECT max(seq) AS seq FROM wakeful_events'

export const occurrences = `SELECT e.seq, e.at, e.type, a.id AS alarm_id, e.occurrence, e.data FROM wakeful_events e
  JOIN wakeful_alarms a ON a.seq = e.alarm WHERE e.occurrence IS NOT NULL ORDER BY e.seq`

export const logPositionsOf =
  'SELECT seq FROM wakeful_events WHERE tenant = ? AND owner = ? AND at <= ? ORDER BY seq'

export const labels = 'SELECT label FROM wakeful_alarms WHERE label LIKE ? ORDER BY seq'

export const overdue = `SELECT t.id, a.id AS alarm, t.kind, t.wake_at AS at FROM wakeful_timers t
  JOIN wakeful_alarms a ON a.seq = t.alarm WHERE max(t.wake_at, a.updated_at,
    coalesce((SELECT max(e.at) FROM wakeful_events e WHERE e.alarm = a.seq), 0)) < ? ORDER BY t.wake_at`

export const alarms = `SELECT seq, ${ALARM_COLUMNS.join(', ')} FROM wakeful_alarms ORDER BY seq`

export const log = 'SELECT type, occurrence, data, alarm FROM wakeful_events ORDER BY seq'
