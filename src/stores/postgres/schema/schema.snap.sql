-- columns
alarms.seq bigint not null identity
alarms.id text not null
alarms.tenant text not null
alarms.owner text not null
alarms.generation bigint not null
alarms.kind text not null
alarms.timezone text not null
alarms.fire_at bigint
alarms.rule text
alarms.calendars text
alarms.label text not null
alarms.target_kind text not null
alarms.target text not null
alarms.target_config text
alarms.pool text not null
alarms.payload text
alarms.message text not null
alarms.conversation_id text not null
alarms.key text
alarms.idempotency_key text
alarms.subject text
alarms.correlation_id text not null
alarms.traceparent text
alarms.max_failures bigint not null
alarms.backoff_base_ms bigint not null
alarms.backoff_cap_ms bigint not null
alarms.timeout_ms bigint
alarms.ack text not null
alarms.completion_timeout_ms bigint not null
alarms.overlap text not null
alarms.priority bigint not null
alarms.on_failure text
alarms.created_by text
alarms.created_via text not null
alarms.declared_by text
alarms.created_at bigint not null
alarms.updated_at bigint not null
alarms.registered_at bigint not null
alarms.paused_at bigint
alarms.cancelled_at bigint
alarms.notes text
calendars.tenant text not null
calendars.name text not null
calendars.version bigint not null
calendars.reviewed_version bigint not null
calendars.dates text not null
calendars.weekend text not null
calendars.updated_at bigint not null
documents.kind text not null
documents.name text not null
documents.tenant text not null
documents.value text not null
documents.version bigint not null
documents.updated_at bigint not null
events.seq bigint not null identity
events.id text not null
events.tenant text not null
events.owner text not null
events.type text not null
events.origin text not null
events.alarm bigint
events.occurrence text
events.subject text
events.correlation_id text
events.failure text
events.at bigint not null
events.data text not null
idempotency_keys.tenant text not null
idempotency_keys.owner text not null
idempotency_keys.idempotency_key text not null
idempotency_keys.alarm bigint not null
in_flight_batches.id bigint not null identity
in_flight_batches.shard integer not null
in_flight_batches.epoch bigint not null
in_flight_batches.claimed_at bigint not null
in_flight_batches.timers bigint[] not null
inbox.seq bigint not null identity
inbox.tenant text not null
inbox.owner text not null
inbox.occurrence text not null
inbox.alarm text not null
inbox.arrived_at bigint not null
inbox.body text not null
inbox.tries bigint not null
inbox.claimed_until bigint not null
meta.name text not null
meta.value text not null
migrations.number bigint not null
migrations.name text not null
migrations.breaking boolean not null
migrations.applied_at bigint not null
outcomes.alarm bigint not null
outcomes.tenant text not null
outcomes.owner text not null
outcomes.target text not null
outcomes.status text
outcomes.started_at bigint
outcomes.last_fired_at bigint
outcomes.completed_at bigint
outcomes.duration_ms bigint
outcomes.result text
outcomes.last_error text
outcomes.failure_count bigint not null
outcomes.attempts bigint not null
processes.holder text not null
processes.pools text[] not null
processes.lease_until bigint not null
processes.heartbeats bigint not null
processes.takeovers bigint not null
shards.shard integer not null identity
shards.pool text not null
shards.slot integer not null
shards.holder text
shards.epoch bigint not null
tallies.tenant text not null
tallies.owner text not null
tallies.slot bigint not null
tallies.total bigint not null
tallies.pending bigint not null
tallies.fired bigint not null
tallies.completed bigint not null
tallies.failed bigint not null
tallies.cancelled bigint not null
tallies.timed_out bigint not null
tallies.duration_ms_sum bigint not null
tallies.duration_count bigint not null
timers.id bigint not null identity
timers.alarm bigint not null
timers.tenant text not null
timers.owner text not null
timers.target text not null
timers.shard integer not null
timers.kind text not null
timers.wake_at bigint
timers.scheduled_for bigint not null
timers.nominal bigint
timers.zone_offset bigint
timers.floor bigint
timers.tick bigint not null
timers.generation bigint not null
timers.attempt bigint not null
timers.started_at bigint
timers.waiting text
timers.delivered smallint not null
timers.version bigint not null
timers.edited smallint not null
timers.report text

-- settings
events with (autovacuum_vacuum_insert_scale_factor=0.05)
in_flight_batches with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_cost_delay=0)
inbox with (fillfactor=85, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000)
outcomes with (fillfactor=85)
processes with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=200)
shards with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000)
tallies with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_cost_delay=0)
timers with (fillfactor=85, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000, autovacuum_vacuum_cost_delay=0, autovacuum_analyze_scale_factor=0.05)

-- constraints
alarms CHECK (((created_at >= 0) AND (created_at <= '253402300799999'::bigint)))
alarms CHECK (((fire_at >= 0) AND (fire_at <= '253402300799999'::bigint)))
alarms CHECK (((kind = 'once'::text) = (fire_at IS NOT NULL)))
alarms CHECK (((kind = 'once'::text) OR (rule IS NOT NULL)))
alarms CHECK (((priority >= '-100'::integer) AND (priority <= 100)))
alarms CHECK (((registered_at >= 0) AND (registered_at <= '253402300799999'::bigint)))
alarms CHECK (((updated_at >= 0) AND (updated_at <= '253402300799999'::bigint)))
alarms CHECK ((ack = ANY (ARRAY['delivery'::text, 'report'::text])))
alarms CHECK ((backoff_base_ms >= 0))
alarms CHECK ((backoff_cap_ms >= backoff_base_ms))
alarms CHECK ((completion_timeout_ms > 0))
alarms CHECK ((generation >= 1))
alarms CHECK ((kind = ANY (ARRAY['once'::text, 'every'::text, 'cron'::text, 'rrule'::text])))
alarms CHECK ((max_failures >= 1))
alarms CHECK ((overlap = ANY (ARRAY['skip'::text, 'queue'::text, 'allow'::text])))
alarms CHECK ((timeout_ms > 0))
calendars CHECK ((reviewed_version <= version))
calendars CHECK ((version >= 1))
documents CHECK ((version >= 1))
events CHECK ((failure = ANY (ARRAY['failed'::text, 'timed_out'::text])))
events CHECK ((origin = ANY (ARRAY['caught'::text, 'caused'::text, 'derived'::text, 'scheduled'::text])))
inbox CHECK (((arrived_at >= 0) AND (arrived_at <= '253402300799999'::bigint)))
inbox CHECK ((tries >= 0))
outcomes CHECK ((attempts >= 0))
outcomes CHECK ((failure_count >= 0))
outcomes CHECK ((status = ANY (ARRAY['fired'::text, 'completed'::text, 'failed'::text, 'timed_out'::text, 'cancelled'::text])))
timers CHECK (((nominal >= 0) AND (nominal <= '253402300799999'::bigint)))
timers CHECK (((scheduled_for >= 0) AND (scheduled_for <= '253402300799999'::bigint)))
timers CHECK (((started_at >= 0) AND (started_at <= '253402300799999'::bigint)))
timers CHECK (((wake_at >= 0) AND (wake_at <= '253402300799999'::bigint)))
timers CHECK (((wake_at IS NOT NULL) OR (waiting = ANY (ARRAY['paused'::text, 'overlap'::text]))))
timers CHECK ((attempt >= 0))
timers CHECK ((delivered = ANY (ARRAY[0, 1])))
timers CHECK ((edited = ANY (ARRAY[0, 1])))
timers CHECK ((generation >= 1))
timers CHECK ((kind = ANY (ARRAY['due'::text, 'forced'::text, 'retry'::text, 'report'::text])))
timers CHECK ((tick >= 0))
timers CHECK ((version >= 1))
timers CHECK ((waiting = ANY (ARRAY['paused'::text, 'overlap'::text, 'handler'::text, 'operator_pause'::text])))

-- indexes
CREATE INDEX alarms_calendars ON wakeful.alarms USING btree (tenant, seq) WHERE (calendars IS NOT NULL)
CREATE INDEX alarms_conversation ON wakeful.alarms USING btree (conversation_id, tenant, owner, seq) WHERE (conversation_id <> ''::text)
CREATE INDEX alarms_correlation ON wakeful.alarms USING btree (correlation_id, tenant, owner, seq) WHERE (correlation_id <> id)
CREATE INDEX alarms_declared ON wakeful.alarms USING btree (tenant, owner, declared_by, seq) WHERE (declared_by IS NOT NULL)
CREATE UNIQUE INDEX alarms_id_key ON wakeful.alarms USING btree (id)
CREATE UNIQUE INDEX alarms_idempotency ON wakeful.alarms USING btree (tenant, owner, idempotency_key) WHERE (idempotency_key IS NOT NULL)
CREATE UNIQUE INDEX alarms_key ON wakeful.alarms USING btree (tenant, owner, key) WHERE (key IS NOT NULL)
CREATE INDEX alarms_label ON wakeful.alarms USING btree (label, tenant, owner, seq) WHERE (label <> ''::text)
CREATE INDEX alarms_owner ON wakeful.alarms USING btree (tenant, owner, seq)
CREATE INDEX alarms_paused ON wakeful.alarms USING btree (tenant, owner, seq) WHERE (paused_at IS NOT NULL)
CREATE UNIQUE INDEX alarms_pkey ON wakeful.alarms USING btree (seq)
CREATE INDEX alarms_subject ON wakeful.alarms USING btree (subject, tenant, owner, seq) WHERE (subject IS NOT NULL)
CREATE INDEX alarms_tenant ON wakeful.alarms USING btree (tenant, seq)
CREATE UNIQUE INDEX calendars_pkey ON wakeful.calendars USING btree (tenant, name)
CREATE UNIQUE INDEX documents_pkey ON wakeful.documents USING btree (kind, name)
CREATE INDEX documents_tenant ON wakeful.documents USING btree (kind, tenant, name)
CREATE INDEX events_alarm ON wakeful.events USING btree (alarm, seq) WHERE (alarm IS NOT NULL)
CREATE UNIQUE INDEX events_appended ON wakeful.events USING btree (id) WHERE (alarm IS NULL)
CREATE INDEX events_failures ON wakeful.events USING btree (seq) WHERE (failure IS NOT NULL)
CREATE INDEX events_failures_owner ON wakeful.events USING btree (tenant, owner, seq) WHERE (failure IS NOT NULL)
CREATE INDEX events_failures_tenant ON wakeful.events USING btree (tenant, seq) WHERE (failure IS NOT NULL)
CREATE INDEX events_owner ON wakeful.events USING btree (tenant, owner, seq)
CREATE UNIQUE INDEX events_pkey ON wakeful.events USING btree (seq)
CREATE INDEX events_tenant ON wakeful.events USING btree (tenant, seq)
CREATE INDEX events_timed_out ON wakeful.events USING btree (alarm, seq) WHERE (failure = 'timed_out'::text)
CREATE INDEX idempotency_keys_alarm ON wakeful.idempotency_keys USING btree (alarm)
CREATE UNIQUE INDEX idempotency_keys_pkey ON wakeful.idempotency_keys USING btree (tenant, owner, idempotency_key)
CREATE UNIQUE INDEX in_flight_batches_pkey ON wakeful.in_flight_batches USING btree (id)
CREATE INDEX in_flight_batches_shard ON wakeful.in_flight_batches USING btree (shard)
CREATE INDEX inbox_arrived ON wakeful.inbox USING btree (arrived_at)
CREATE INDEX inbox_oldest ON wakeful.inbox USING btree (tenant, owner, arrived_at, seq)
CREATE UNIQUE INDEX inbox_pkey ON wakeful.inbox USING btree (seq)
CREATE UNIQUE INDEX inbox_tenant_owner_occurrence_key ON wakeful.inbox USING btree (tenant, owner, occurrence)
CREATE UNIQUE INDEX meta_pkey ON wakeful.meta USING btree (name)
CREATE UNIQUE INDEX migrations_pkey ON wakeful.migrations USING btree (number)
CREATE UNIQUE INDEX outcomes_pkey ON wakeful.outcomes USING btree (alarm)
CREATE INDEX outcomes_status ON wakeful.outcomes USING btree (status, tenant, owner, alarm) WHERE (status IS NOT NULL)
CREATE INDEX outcomes_target ON wakeful.outcomes USING btree (target, status, tenant, owner, alarm) WHERE (status IS NOT NULL)
CREATE UNIQUE INDEX processes_pkey ON wakeful.processes USING btree (holder)
CREATE INDEX shards_holder ON wakeful.shards USING btree (holder) WHERE (holder IS NOT NULL)
CREATE UNIQUE INDEX shards_pkey ON wakeful.shards USING btree (shard)
CREATE UNIQUE INDEX shards_pool_slot_key ON wakeful.shards USING btree (pool, slot)
CREATE UNIQUE INDEX shards_shard_epoch_key ON wakeful.shards USING btree (shard, epoch)
CREATE UNIQUE INDEX tallies_pkey ON wakeful.tallies USING btree (tenant, owner, slot)
CREATE INDEX timers_alarm ON wakeful.timers USING btree (tenant, owner, alarm)
CREATE INDEX timers_due ON wakeful.timers USING btree (shard, wake_at, id) WHERE (wake_at IS NOT NULL)
CREATE INDEX timers_paused_target ON wakeful.timers USING btree (shard, target, scheduled_for) WHERE (waiting = 'operator_pause'::text)
CREATE INDEX timers_paused_tenant ON wakeful.timers USING btree (shard, tenant, scheduled_for) WHERE (waiting = 'operator_pause'::text)
CREATE UNIQUE INDEX timers_pkey ON wakeful.timers USING btree (id)
CREATE INDEX timers_report ON wakeful.timers USING btree (tenant, owner, alarm) WHERE (kind = 'report'::text)
CREATE INDEX timers_target ON wakeful.timers USING btree (target, tenant, owner, alarm)
CREATE INDEX timers_upcoming ON wakeful.timers USING btree (tenant, owner, wake_at, id) WHERE (wake_at IS NOT NULL)
CREATE INDEX timers_upcoming_of_tenant ON wakeful.timers USING btree (tenant, wake_at, id) WHERE (wake_at IS NOT NULL)
CREATE INDEX timers_without_handler ON wakeful.timers USING btree (shard, target, wake_at) WHERE (waiting = 'handler'::text)
