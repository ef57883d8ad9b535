import { SKIP_REASONS } from '../../alarm/index.ts'
import { operations } from '../../contracts/index.ts'
import { WATCHED_CALLS } from '../../library/index.ts'
import { METRICS } from './metric-definitions.ts'

type Labels = Readonly<Record<string, string>>

const TARGETS = ['handler', 'webhook', 'event', 'inbox', 'default']
const ATTEMPTS = ['delivered', 'retry', 'failed', 'released']
const SETS = ['created', 'replaced', 'deduped']
const FAILURES = ['500', '503']

/**
 * The labels each counter may get. Each series exists with 0 from the start: Prometheus takes the first value it sees as the
 * beginning, and would miss the first increase.
 */
export const KNOWN_LABELS: ReadonlyMap<string, readonly Labels[]> = new Map<string, readonly Labels[]>([
  [METRICS.attempts.name, TARGETS.flatMap((target) => ATTEMPTS.map((outcome) => ({ target, outcome })))],
  [METRICS.skipped.name, SKIP_REASONS.map((reason) => ({ reason }))],
  [METRICS.sets.name, SETS.map((outcome) => ({ outcome }))],
  [METRICS.storeErrors.name, WATCHED_CALLS.map((call) => ({ call }))],
  [
    METRICS.requests.name,
    Object.values(operations).flatMap(({ method, path }) =>
      FAILURES.map((status) => ({ method, route: path, status })),
    ),
  ],
])
