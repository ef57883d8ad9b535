CREATE TABLE wakeful_alarms (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  tenant TEXT NOT NULL,
  owner TEXT NOT NULL,
  generation INTEGER NOT NULL CHECK (generation >= 1),
  kind TEXT NOT NULL CHECK (kind IN ('once', 'every', 'cron', 'rrule')),
  timezone TEXT NOT NULL,
  fire_at INTEGER,
  rule TEXT,
  -- The names of the calendars that the rule excludes, as JSON.
  calendars TEXT,
  label TEXT NOT NULL,
  target_kind TEXT NOT NULL,
  target TEXT NOT NULL,
  target_config TEXT,
  pool TEXT NOT NULL,
  payload TEXT,
  message TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  key TEXT,
  idempotency_key TEXT,
  subject TEXT,
  correlation_id TEXT NOT NULL,
  traceparent TEXT,
  max_failures INTEGER NOT NULL CHECK (max_failures >= 1),
  backoff_base_ms INTEGER NOT NULL CHECK (backoff_base_ms >= 0),
  backoff_cap_ms INTEGER NOT NULL CHECK (backoff_cap_ms >= backoff_base_ms),
  timeout_ms INTEGER CHECK (timeout_ms > 0),
  ack TEXT NOT NULL CHECK (ack IN ('delivery', 'report')),
  completion_timeout_ms INTEGER NOT NULL CHECK (completion_timeout_ms > 0),
  overlap TEXT NOT NULL CHECK (overlap IN ('skip', 'queue', 'allow')),
  priority INTEGER NOT NULL CHECK (priority BETWEEN -100 AND 100),
  on_failure TEXT,
  created_by TEXT,
  created_via TEXT NOT NULL,
  declared_by TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  -- When its wait began: its last set or reschedule.
  registered_at INTEGER NOT NULL,
  paused_at INTEGER,
  cancelled_at INTEGER,
  notes TEXT,
  CHECK ((kind = 'once') = (fire_at IS NOT NULL)),
  CHECK ((kind = 'once') OR (rule IS NOT NULL)),
  -- An instant outside this range cannot be read, and would fail the whole batch it is read with.
  CHECK (fire_at BETWEEN 0 AND 253402300799999),
  CHECK (created_at BETWEEN 0 AND 253402300799999),
  CHECK (updated_at BETWEEN 0 AND 253402300799999),
  CHECK (registered_at BETWEEN 0 AND 253402300799999)
) STRICT;

CREATE TABLE wakeful_calendars (
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  -- Grows with every edit. Pending alarms have been computed again up to the reviewed version.
  version INTEGER NOT NULL CHECK (version >= 1),
  reviewed_version INTEGER NOT NULL CHECK (reviewed_version <= version),
  dates TEXT NOT NULL,
  weekend TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (tenant, name)
) STRICT;

CREATE TABLE wakeful_documents (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  tenant TEXT NOT NULL,
  value TEXT NOT NULL,
  -- Grows over all documents, so that one that was removed and created again never has an earlier version.
  version INTEGER NOT NULL CHECK (version >= 1),
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE wakeful_events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL,
  tenant TEXT NOT NULL,
  owner TEXT NOT NULL,
  type TEXT NOT NULL,
  origin TEXT NOT NULL CHECK (origin IN ('caught', 'caused', 'derived', 'scheduled')),
  -- Null for the events that users append.
  alarm INTEGER,
  occurrence TEXT,
  subject TEXT,
  correlation_id TEXT,
  -- Whether an occurrence failed or timed out with it. The only column that changes: after a retry or a late report.
  failure TEXT CHECK (failure IN ('failed', 'timed_out')),
  at INTEGER NOT NULL,
  data TEXT NOT NULL
) STRICT;

CREATE TABLE wakeful_idempotency_keys (
  tenant TEXT NOT NULL,
  owner TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  alarm INTEGER NOT NULL,
  PRIMARY KEY (tenant, owner, idempotency_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE wakeful_in_flight_batches (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  shard INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  claimed_at INTEGER NOT NULL,
  timers TEXT NOT NULL
) STRICT;

CREATE TABLE wakeful_inbox (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  owner TEXT NOT NULL,
  occurrence TEXT NOT NULL,
  alarm TEXT NOT NULL,
  arrived_at INTEGER NOT NULL CHECK (arrived_at BETWEEN 0 AND 253402300799999),
  body TEXT NOT NULL,
  -- How often it was handed out.
  tries INTEGER NOT NULL CHECK (tries >= 0),
  -- It is not handed out again before this instant.
  claimed_until INTEGER NOT NULL,
  UNIQUE (tenant, owner, occurrence)
) STRICT;

CREATE TABLE wakeful_meta (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE wakeful_migrations (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  breaking INTEGER NOT NULL,
  applied_at INTEGER NOT NULL
) STRICT;

CREATE TABLE wakeful_outcomes (
  alarm INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  owner TEXT NOT NULL,
  target TEXT NOT NULL,
  status TEXT CHECK (status IN ('fired', 'completed', 'failed', 'timed_out', 'cancelled')),
  started_at INTEGER,
  last_fired_at INTEGER,
  completed_at INTEGER,
  duration_ms INTEGER,
  result TEXT,
  last_error TEXT,
  failure_count INTEGER NOT NULL CHECK (failure_count >= 0),
  attempts INTEGER NOT NULL CHECK (attempts >= 0)
) STRICT;

CREATE TABLE wakeful_shards (
  shard INTEGER PRIMARY KEY,
  pool TEXT NOT NULL,
  slot INTEGER NOT NULL,
  -- The process that holds the shard's lease.
  holder TEXT,
  epoch INTEGER NOT NULL,
  -- Whether the holder has locked the side file. If so, that lock shows that it is alive.
  file_locked INTEGER NOT NULL CHECK (file_locked IN (0, 1)),
  UNIQUE (pool, slot),
  UNIQUE (shard, epoch)
) STRICT;

CREATE TABLE wakeful_tallies (
  tenant TEXT NOT NULL,
  owner TEXT NOT NULL,
  total INTEGER NOT NULL,
  pending INTEGER NOT NULL,
  fired INTEGER NOT NULL,
  completed INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  cancelled INTEGER NOT NULL,
  timed_out INTEGER NOT NULL,
  duration_ms_sum INTEGER NOT NULL,
  duration_count INTEGER NOT NULL,
  PRIMARY KEY (tenant, owner)
) STRICT, WITHOUT ROWID;

CREATE TABLE wakeful_timers (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  alarm INTEGER NOT NULL,
  tenant TEXT NOT NULL,
  owner TEXT NOT NULL,
  target TEXT NOT NULL,
  shard INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('due', 'forced', 'retry', 'report')),
  wake_at INTEGER,
  scheduled_for INTEGER NOT NULL,
  -- The instant that the rule names, where a day off moved it.
  nominal INTEGER,
  -- The zone's offset at that instant: a change of the zone data shows as a difference, and the instant is computed again.
  zone_offset INTEGER,
  -- No later occurrence of the alarm fires at or before this instant.
  floor INTEGER,
  tick INTEGER NOT NULL CHECK (tick >= 0),
  generation INTEGER NOT NULL CHECK (generation >= 1),
  attempt INTEGER NOT NULL CHECK (attempt >= 0),
  started_at INTEGER,
  -- Why it does not fire although it may be due: its alarm is paused, an earlier occurrence is open, no process has its
  -- handler, or an operator has paused its tenant or target.
  waiting TEXT CHECK (waiting IN ('paused', 'overlap', 'handler', 'operator_pause')),
  delivered INTEGER NOT NULL CHECK (delivered IN (0, 1)),
  version INTEGER NOT NULL CHECK (version >= 1),
  edited INTEGER NOT NULL CHECK (edited IN (0, 1)),
  report TEXT,
  CHECK (wake_at IS NOT NULL OR waiting IN ('paused', 'overlap')),
  -- An instant outside this range cannot be read, and would fail the whole batch it is read with.
  CHECK (wake_at BETWEEN 0 AND 253402300799999),
  CHECK (scheduled_for BETWEEN 0 AND 253402300799999),
  CHECK (nominal BETWEEN 0 AND 253402300799999),
  CHECK (started_at BETWEEN 0 AND 253402300799999)
) STRICT;

CREATE INDEX wakeful_alarms_calendars ON wakeful_alarms (tenant) WHERE calendars IS NOT NULL;

CREATE INDEX wakeful_alarms_conversation ON wakeful_alarms (conversation_id, tenant, owner) WHERE conversation_id <> '';

CREATE INDEX wakeful_alarms_correlation ON wakeful_alarms (correlation_id, tenant, owner) WHERE correlation_id <> id;

CREATE INDEX wakeful_alarms_declared ON wakeful_alarms (tenant, owner, declared_by) WHERE declared_by IS NOT NULL;

CREATE UNIQUE INDEX wakeful_alarms_idempotency ON wakeful_alarms (tenant, owner, idempotency_key) WHERE idempotency_key IS NOT NULL;

CREATE UNIQUE INDEX wakeful_alarms_key ON wakeful_alarms (tenant, owner, key) WHERE key IS NOT NULL;

CREATE INDEX wakeful_alarms_label ON wakeful_alarms (label, tenant, owner) WHERE label <> '';

CREATE INDEX wakeful_alarms_owner ON wakeful_alarms (tenant, owner);

CREATE INDEX wakeful_alarms_paused ON wakeful_alarms (tenant, owner) WHERE paused_at IS NOT NULL;

CREATE INDEX wakeful_alarms_subject ON wakeful_alarms (subject, tenant, owner) WHERE subject IS NOT NULL;

CREATE INDEX wakeful_alarms_tenant ON wakeful_alarms (tenant);

CREATE INDEX wakeful_documents_tenant ON wakeful_documents (kind, tenant, name);

CREATE INDEX wakeful_events_alarm ON wakeful_events (alarm) WHERE alarm IS NOT NULL;

CREATE UNIQUE INDEX wakeful_events_appended ON wakeful_events (id) WHERE alarm IS NULL;

CREATE INDEX wakeful_events_failures ON wakeful_events (seq) WHERE failure IS NOT NULL;

CREATE INDEX wakeful_events_failures_owner ON wakeful_events (tenant, owner) WHERE failure IS NOT NULL;

CREATE INDEX wakeful_events_failures_tenant ON wakeful_events (tenant) WHERE failure IS NOT NULL;

CREATE INDEX wakeful_events_owner ON wakeful_events (tenant, owner);

CREATE INDEX wakeful_events_tenant ON wakeful_events (tenant);

CREATE INDEX wakeful_events_timed_out ON wakeful_events (alarm) WHERE failure = 'timed_out';

CREATE INDEX wakeful_idempotency_keys_alarm ON wakeful_idempotency_keys (alarm);

CREATE INDEX wakeful_inbox_arrived ON wakeful_inbox (arrived_at);

CREATE INDEX wakeful_inbox_oldest ON wakeful_inbox (tenant, owner, arrived_at);

CREATE INDEX wakeful_outcomes_status ON wakeful_outcomes (status, tenant, owner) WHERE status IS NOT NULL;

CREATE INDEX wakeful_outcomes_target ON wakeful_outcomes (target, status, tenant, owner) WHERE status IS NOT NULL;

CREATE INDEX wakeful_timers_alarm ON wakeful_timers (tenant, owner, alarm);

CREATE INDEX wakeful_timers_due ON wakeful_timers (shard, wake_at) WHERE wake_at IS NOT NULL;

CREATE INDEX wakeful_timers_paused_target ON wakeful_timers (shard, target, scheduled_for) WHERE waiting = 'operator_pause';

CREATE INDEX wakeful_timers_paused_tenant ON wakeful_timers (shard, tenant, scheduled_for) WHERE waiting = 'operator_pause';

CREATE INDEX wakeful_timers_report ON wakeful_timers (tenant, owner, alarm) WHERE kind = 'report';

CREATE INDEX wakeful_timers_target ON wakeful_timers (target, tenant, owner, alarm);

CREATE INDEX wakeful_timers_upcoming ON wakeful_timers (tenant, owner, wake_at) WHERE wake_at IS NOT NULL;

CREATE INDEX wakeful_timers_upcoming_of_tenant ON wakeful_timers (tenant, wake_at) WHERE wake_at IS NOT NULL;

CREATE INDEX wakeful_timers_without_handler ON wakeful_timers (shard, target, wake_at) WHERE waiting = 'handler';
