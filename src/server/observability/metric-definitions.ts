/** A metric: one definition for the registry, the docs and the check of boards and rules. */
export interface MetricDefinition {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
  /** Upper bounds in seconds. */
  readonly buckets?: readonly number[]
}

/** From a millisecond to an hour: the engine's own lateness is a few, an outage's is minutes. */
const LATENESS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600,
]
const DURATION = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
const WRITING = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/**
 * Every metric of a server. None has a label for tenants, owners, alarms or endpoints: these have no bound, and each
 * value of a label is a series that Prometheus keeps. Whose alarms they were is in the log, by tenant and owner.
 */
export const METRICS = {
  lateness: {
    name: 'wakeful_fire_lateness_seconds',
    type: 'histogram',
    help: 'Delay of the first attempt of an occurrence after its instant, without occurrences that waited for a handler, a pause or an earlier occurrence',
    labels: ['target'],
    buckets: LATENESS,
  },
  attempts: {
    name: 'wakeful_attempts_total',
    type: 'counter',
    help: 'Delivery attempts by outcome: delivered, retry (failed, will be retried), failed (permanently), released (returned, not counted as an attempt)',
    labels: ['target', 'outcome'],
  },
  attemptDuration: {
    name: 'wakeful_attempt_duration_seconds',
    type: 'histogram',
    help: 'Duration of attempts that were delivered or failed',
    labels: ['target'],
    buckets: DURATION,
  },
  skipped: {
    name: 'wakeful_skipped_total',
    type: 'counter',
    help: 'Due occurrences that were not delivered, by reason',
    labels: ['reason'],
  },
  reportsOverdue: {
    name: 'wakeful_reports_overdue_total',
    type: 'counter',
    help: 'Delivered occurrences without a report in time',
    labels: [],
  },
  sets: {
    name: 'wakeful_sets_total',
    type: 'counter',
    help: 'Alarms set: created, replaced (known key), deduped (known idempotency key)',
    labels: ['outcome'],
  },
  inFlight: { name: 'wakeful_in_flight', type: 'gauge', help: 'Deliveries in progress', labels: [] },
  queued: {
    name: 'wakeful_queued',
    type: 'gauge',
    help: 'Claimed occurrences that wait for a free slot',
    labels: [],
  },
  unsettled: {
    name: 'wakeful_unsettled',
    type: 'gauge',
    help: 'Ended deliveries that are not written yet',
    labels: [],
  },
  backlog: {
    name: 'wakeful_backlog',
    type: 'gauge',
    help: 'Due occurrences that are not claimed yet, in shards that run here or in no process; at most 10,000 of each shard are counted',
    labels: [],
  },
  lag: {
    name: 'wakeful_lag_seconds',
    type: 'gauge',
    help: 'Time since the oldest due wake that is not in progress, in shards that run here or in no process; pools beyond 20 are `other`',
    labels: ['pool'],
  },
  shards: {
    name: 'wakeful_shards',
    type: 'gauge',
    help: 'Shards by the process that runs them: here, elsewhere (another process), nobody (none); pools beyond 20 are `other`',
    labels: ['pool', 'owner'],
  },
  settle: {
    name: 'wakeful_settle_duration_seconds',
    type: 'histogram',
    help: 'Duration of writing a batch of outcomes',
    labels: [],
    buckets: WRITING,
  },
  storeErrors: {
    name: 'wakeful_store_errors_total',
    type: 'counter',
    help: 'Calls that the store could not answer; rejected calls do not count',
    labels: ['call'],
  },
  storeUp: {
    name: 'wakeful_store_up',
    type: 'gauge',
    help: '1 if the store answered this scrape in time and accepts writes, else 0',
    labels: [],
  },
  requests: {
    name: 'wakeful_http_requests_total',
    type: 'counter',
    help: 'HTTP requests by the pattern of their route',
    labels: ['method', 'route', 'status'],
  },
  requestDuration: {
    name: 'wakeful_http_request_duration_seconds',
    type: 'histogram',
    help: 'Duration of HTTP requests',
    labels: ['method', 'route'],
    buckets: DURATION,
  },
  connections: {
    name: 'wakeful_connections',
    type: 'gauge',
    help: 'Open connections of live readers, by kind: ws, sse, inbox',
    labels: ['kind'],
  },
  inboxWaiting: {
    name: 'wakeful_inbox_waiting',
    type: 'gauge',
    help: 'Unacknowledged wakes in inboxes; at most 10,000 are counted',
    labels: [],
  },
  clockCorrection: {
    name: 'wakeful_clock_correction_seconds',
    type: 'gauge',
    help: 'How far the store’s clock is ahead of this machine’s; alarms follow the store’s clock',
    labels: [],
  },
  build: {
    name: 'wakeful_build_info',
    type: 'gauge',
    help: 'Always 1; the labels have the versions',
    labels: ['version', 'node'],
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>

/** Every metric, in the order they are told of. */
export const METRIC_LIST: readonly MetricDefinition[] = Object.values(METRICS)
