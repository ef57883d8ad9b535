import { SKIP_REASONS } from '../../alarm/index.ts'
import { operations } from '../../contracts/index.ts'
import { WATCHED_CALLS } from '../../library/index.ts'

type Labels = Readonly<Record<string, string>>

/** A metric: one definition for the registry, the docs and the check of boards and rules. */
export interface MetricDefinition {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
  /** Upper bounds in seconds. */
  readonly buckets?: readonly number[]
  /**
   * The labels that a counter gets, as far as they are known. Each series exists with 0 from the start: Prometheus takes the first value it sees as the
   * beginning, and would miss the first increase.
   */
  readonly known?: readonly Labels[]
}

/** From a millisecond to an hour: the engine's own lateness is a few, an outage's is minutes. */
const LATENESS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600,
]
const DURATION = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
const WRITING = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const TARGETS = ['handler', 'webhook', 'event', 'inbox', 'default']
const ATTEMPTS = ['delivered', 'retry', 'failed', 'released']
const SETS = ['created', 'replaced', 'unchanged', 'deduped']
const FAILURES = ['500', '503']

/**
 * Every metric of a server. None has a label for tenants, owners, alarms or endpoints: these have no bound, and each
 * value of a label is a series that Prometheus keeps. Whose alarms they were is in the log, by tenant and owner.
 */
export const METRICS = {
  lateness: histogram(
    'wakeful_fire_lateness_seconds',
    'Delay of the first attempt of an occurrence after its instant, without occurrences that were deferred',
    LATENESS,
    ['target'],
  ),
  deferred: histogram(
    'wakeful_fire_deferred_seconds',
    'The same delay of occurrences that were deferred: by an open circuit, a pause, a limit, a missing handler or an earlier occurrence',
    LATENESS,
    ['target'],
  ),
  attempts: counter(
    'wakeful_attempts_total',
    'Delivery attempts by outcome: delivered, retry (failed, will be retried), failed (permanently), released (returned, not counted as an attempt)',
    TARGETS.flatMap((target) => ATTEMPTS.map((outcome) => ({ target, outcome }))),
  ),
  attemptDuration: histogram(
    'wakeful_attempt_duration_seconds',
    'Duration of attempts that were delivered or failed',
    DURATION,
    ['target'],
  ),
  skipped: counter(
    'wakeful_skipped_total',
    'Due occurrences that were not delivered, by reason',
    SKIP_REASONS.map((reason) => ({ reason })),
  ),
  reportsOverdue: counter('wakeful_reports_overdue_total', 'Delivered occurrences without a report in time'),
  sets: counter(
    'wakeful_sets_total',
    'Alarms set: created, replaced or unchanged (known key), deduped (known idempotency key)',
    SETS.map((outcome) => ({ outcome })),
  ),
  inFlight: gauge('wakeful_in_flight', 'Deliveries in progress'),
  queued: gauge('wakeful_queued', 'Claimed occurrences that wait for a free slot'),
  unsettled: gauge('wakeful_unsettled', 'Ended deliveries that are not written yet'),
  backlog: gauge(
    'wakeful_backlog',
    'Due occurrences that are not claimed yet, in shards that run here or in no process; at most 10,000 of each shard are counted',
  ),
  lag: gauge(
    'wakeful_lag_seconds',
    'Time since the oldest due wake that is neither in progress nor deferred by a limit, in shards that run here or in no process; pools beyond 20 are `other`',
    ['pool'],
  ),
  withoutHandler: gauge(
    'wakeful_without_handler_seconds',
    'Time since the oldest occurrence came due whose handler no process of the pool has registered, 0 if there is none; pools beyond 20 are `other`',
    ['pool'],
  ),
  shards: gauge(
    'wakeful_shards',
    'Shards by the process that runs them: here, elsewhere (another process), nobody (none); pools beyond 20 are `other`',
    ['pool', 'owner'],
  ),
  secret: gauge(
    'wakeful_secret_ok',
    '1 if this process has the secret that signs the webhooks of its store, or the store has none yet; 0 if it lacks it and serves no built-in targets',
  ),
  settle: histogram('wakeful_settle_duration_seconds', 'Duration of writing a batch of outcomes', WRITING),
  storeErrors: counter(
    'wakeful_store_errors_total',
    'Calls that the store could not answer; rejected calls do not count',
    WATCHED_CALLS.map((call) => ({ call })),
  ),
  storeUp: gauge(
    'wakeful_store_up',
    '1 if the store answered this scrape in time and accepts writes, else 0',
  ),
  requests: counter(
    'wakeful_http_requests_total',
    'HTTP requests by the pattern of their route',
    Object.values(operations).flatMap(({ method, path: route }) =>
      FAILURES.map((status) => ({ method, route, status })),
    ),
  ),
  requestDuration: histogram('wakeful_http_request_duration_seconds', 'Duration of HTTP requests', DURATION, [
    'method',
    'route',
  ]),
  connections: gauge('wakeful_connections', 'Open connections of live readers, by kind: ws, sse', ['kind']),
  inboxWaiting: gauge('wakeful_inbox_waiting', 'Unacknowledged wakes in inboxes; at most 10,000 are counted'),
  clockCorrection: gauge(
    'wakeful_clock_correction_seconds',
    'How far the store’s clock is ahead of this machine’s; alarms follow the store’s clock',
  ),
  build: gauge('wakeful_build_info', 'Always 1; the labels have the versions', ['version', 'node']),
}

/** Every metric, in the order of the reference. */
export const METRIC_LIST: readonly MetricDefinition[] = Object.values(METRICS)

function counter(name: string, help: string, known: readonly Labels[] = []): MetricDefinition {
  return { name, type: 'counter', help, labels: Object.keys(known[0] ?? {}), known }
}

function gauge(name: string, help: string, labels: readonly string[] = []): MetricDefinition {
  return { name, type: 'gauge', help, labels }
}

function histogram(
  name: string,
  help: string,
  buckets: readonly number[],
  labels: readonly string[] = [],
): MetricDefinition {
  return { name, type: 'histogram', help, labels, buckets }
}
