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
    help: 'How long after its instant the first attempt at an occurrence began; not of what waited for a handler, a pause or an earlier occurrence',
    labels: ['target'],
    buckets: LATENESS,
  },
  attempts: {
    name: 'wakeful_attempts_total',
    type: 'counter',
    help: 'Attempts at delivering, as written: delivered, retry (failed, to be tried again), failed (for good), released (handed back, uncounted)',
    labels: ['target', 'outcome'],
  },
  attemptDuration: {
    name: 'wakeful_attempt_duration_seconds',
    type: 'histogram',
    help: 'How long attempts took that were delivered or failed',
    labels: ['target'],
    buckets: DURATION,
  },
  skipped: {
    name: 'wakeful_skipped_total',
    type: 'counter',
    help: 'Occurrences that came due and were not delivered, by reason',
    labels: ['reason'],
  },
  reportsOverdue: {
    name: 'wakeful_reports_overdue_total',
    type: 'counter',
    help: 'Delivered occurrences whose report did not come in time',
    labels: [],
  },
  sets: {
    name: 'wakeful_sets_total',
    type: 'counter',
    help: 'Alarms set: created, replaced (their key was known), deduped (their idempotency key was)',
    labels: ['outcome'],
  },
  inFlight: { name: 'wakeful_in_flight', type: 'gauge', help: 'Deliveries under way', labels: [] },
  queued: {
    name: 'wakeful_queued',
    type: 'gauge',
    help: 'Occurrences that were taken and wait for a free hand',
    labels: [],
  },
  unsettled: {
    name: 'wakeful_unsettled',
    type: 'gauge',
    help: 'Deliveries that ended and are not written yet',
    labels: [],
  },
  backlog: {
    name: 'wakeful_backlog',
    type: 'gauge',
    help: 'Occurrences that are due and not taken yet, of the shards that run here or nowhere; at most 10,000 of each shard are counted',
    labels: [],
  },
  lag: {
    name: 'wakeful_lag_seconds',
    type: 'gauge',
    help: 'How long the oldest wake is due that is not under way, of the shards that run here or nowhere; pools beyond 20 are `other`',
    labels: ['pool'],
  },
  shards: {
    name: 'wakeful_shards',
    type: 'gauge',
    help: 'Shards by where their clock runs: here, elsewhere, nobody; pools beyond 20 are `other`',
    labels: ['pool', 'owner'],
  },
  settle: {
    name: 'wakeful_settle_duration_seconds',
    type: 'histogram',
    help: 'How long it took to write a batch of outcomes',
    labels: [],
    buckets: WRITING,
  },
  storeErrors: {
    name: 'wakeful_store_errors_total',
    type: 'counter',
    help: 'Calls that the store could not answer; refusals are none',
    labels: ['call'],
  },
  storeUp: {
    name: 'wakeful_store_up',
    type: 'gauge',
    help: 'Whether the store answered this scrape in time, and takes writes: 1 or 0',
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
    help: 'How long HTTP requests took',
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
    help: 'Wakes that lie in inboxes, unacknowledged; at most 10,000 are counted',
    labels: [],
  },
  clockCorrection: {
    name: 'wakeful_clock_correction_seconds',
    type: 'gauge',
    help: 'How far the store’s clock is ahead of this machine’s: alarms follow the store’s',
    labels: [],
  },
  build: {
    name: 'wakeful_build_info',
    type: 'gauge',
    help: 'Always 1; what runs is in the labels',
    labels: ['version', 'node'],
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>

/** Every metric, in the order they are told of. */
export const METRIC_LIST: readonly MetricDefinition[] = Object.values(METRICS)
