/** The table of the application's own that transactional handlers write to. */
const EFFECTS_TABLE = 'CREATE TABLE chaos_effects (occurrence text NOT NULL, run bigint NOT NULL)'

/**
 * Lets the database itself note who moves a timer, and whose its shard is at that moment: the process writes under its
 * name (`run-<pid>`), and the owner's name tells the pid too. What came of an occurrence is noted with it, by transaction.
 */
export const AUDIT = `
  ${EFFECTS_TABLE};
  CREATE TABLE chaos_moves (tx xid8 NOT NULL, alarm bigint NOT NULL, shard int NOT NULL, writer text NOT NULL,
    owner text, epoch bigint NOT NULL);
  CREATE TABLE chaos_ends (tx xid8 NOT NULL, alarm bigint NOT NULL, occurrence text NOT NULL, type text NOT NULL);
  CREATE FUNCTION chaos_note_move() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO chaos_moves SELECT pg_current_xact_id(), OLD.alarm, OLD.shard, current_setting('application_name'),
        s.owner, s.epoch FROM wakeful.shards s WHERE s.shard = OLD.shard;
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
`

/** Outcomes that were accepted from a process to which the shard did not belong. */
export const FORMER_OWNERS = `SELECT DISTINCT m.writer, m.owner, m.shard, m.epoch, e.type, e.occurrence
  FROM chaos_ends e JOIN chaos_moves m ON m.tx = e.tx AND m.alarm = e.alarm
  WHERE m.owner IS NULL OR split_part(m.owner, ':', 2) <> replace(m.writer, 'run-', '')`
