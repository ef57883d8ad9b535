/** The application's table that transactional handlers write to. */
const EFFECTS_TABLE = 'CREATE TABLE chaos_effects (occurrence text NOT NULL, run bigint NOT NULL)'

/**
 * Lets the database record which process moves a timer and which holds its shard at that moment. The process connects
 * under its name (`run-<pid>`), and the lease holder's name contains the pid, too. The outcome of the occurrence is
 * recorded with the transaction. In-flight batches and shard holders are recorded as they change, to explain a finding.
 */
export const AUDIT = `
  ${EFFECTS_TABLE};
  CREATE TABLE chaos_moves (tx xid8 NOT NULL, alarm bigint NOT NULL, shard int NOT NULL, writer text NOT NULL,
    owner text, epoch bigint NOT NULL, before jsonb NOT NULL, after jsonb, at timestamptz NOT NULL DEFAULT clock_timestamp());
  CREATE TABLE chaos_rows (tx xid8 NOT NULL, place text NOT NULL, writer text NOT NULL, before jsonb, after jsonb,
    at timestamptz NOT NULL DEFAULT clock_timestamp());
  CREATE TABLE chaos_ends (tx xid8 NOT NULL, alarm bigint NOT NULL, occurrence text NOT NULL, type text NOT NULL);
  CREATE FUNCTION chaos_note_move() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO chaos_moves SELECT pg_current_xact_id(), OLD.alarm, OLD.shard, current_setting('application_name'),
        s.holder, s.epoch, to_jsonb(OLD), to_jsonb(NEW) FROM wakeful.shards s WHERE s.shard = OLD.shard;
      RETURN NULL;
    END $$;
  CREATE FUNCTION chaos_note_row() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO chaos_rows VALUES (pg_current_xact_id(), TG_TABLE_NAME, current_setting('application_name'),
        to_jsonb(OLD), to_jsonb(NEW));
      RETURN NULL;
    END $$;
  CREATE FUNCTION chaos_note_end() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO chaos_ends VALUES (pg_current_xact_id(), NEW.alarm, NEW.occurrence, NEW.type);
      RETURN NULL;
    END $$;
  CREATE TRIGGER chaos_moved AFTER DELETE ON wakeful.timers FOR EACH ROW EXECUTE FUNCTION chaos_note_move();
  CREATE TRIGGER chaos_moved_on AFTER UPDATE OF version ON wakeful.timers FOR EACH ROW EXECUTE FUNCTION chaos_note_move();
  CREATE TRIGGER chaos_ended AFTER INSERT ON wakeful.events FOR EACH ROW WHEN (NEW.occurrence IS NOT NULL
    AND NEW.type IN ('alarm.fired', 'timer.due_time_reached', 'schedule.ticked', 'alarm.attempt_failed'))
    EXECUTE FUNCTION chaos_note_end();
  CREATE TRIGGER chaos_flew AFTER INSERT OR DELETE ON wakeful.in_flight_batches FOR EACH ROW EXECUTE FUNCTION chaos_note_row();
  CREATE TRIGGER chaos_owned AFTER UPDATE ON wakeful.shards FOR EACH ROW EXECUTE FUNCTION chaos_note_row();
`

/** Everything the database has recorded, in order, and the log: a line of JSON each. */
export const NOTES = `SELECT note::text FROM (
    SELECT at, jsonb_build_object('at', at, 'tx', tx::text, 'place', place, 'writer', writer, 'before', before, 'after', after)
      AS note FROM chaos_rows
    UNION ALL SELECT at, to_jsonb(m) || '{"place": "timers"}' FROM chaos_moves m
    UNION ALL SELECT to_timestamp(e.at / 1000.0), to_jsonb(e) || jsonb_build_object('place', 'events', 'id', a.id)
      FROM wakeful.events e JOIN wakeful.alarms a ON a.seq = e.alarm) notes ORDER BY at`

/** Outcomes accepted from a process that did not hold the shard. */
export const FORMER_OWNERS = `SELECT DISTINCT m.writer, m.owner, m.shard, m.epoch, e.type, e.occurrence
  FROM chaos_ends e JOIN chaos_moves m ON m.tx = e.tx AND m.alarm = e.alarm
  WHERE m.owner IS NULL OR split_part(m.owner, ':', 2) <> replace(m.writer, 'run-', '')`
