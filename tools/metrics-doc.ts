/** Prints docs/reference/metrics.md from the registry's definitions: `node tools/metrics-doc.ts > docs/reference/metrics.md`. */
import { METRIC_LIST, type MetricDefinition } from '../src/server/observability/metric-definitions.ts'

const HEAD = `<!-- Written by tools/metrics-doc.ts from src/server/observability/metric-definitions.ts: change that, then run \`npm run docs\`. -->

# Metrics

What \`GET /metrics\` of a server tells Prometheus. Counters start anew with each process, at 0 for each value of a label that is known; gauges are read when they are asked for, and
those of the store are left out, with \`wakeful_store_up\` at 0, where it does not answer within 2 s. Beside these stand Node's own
(\`process_…\`, \`nodejs_…\`): memory, CPU, the event loop.

No metric has a label for tenants, owners, alarms or endpoints. Each value of a label is a series that Prometheus keeps, and these have no bound. Whose alarms they
were is in the log of events and in the lines of the server's log.
`

const TAIL = `
What is counted is what was written. An outcome that had to be written twice counts once, and one that another owner voided not at all, as in the
log of events. A set in a transaction of your own counts even where you roll it back.

The lateness is the engine's own: of first attempts, which nothing held up. A retry, or what waited for a handler, a pause or an
earlier occurrence, has no part in it. \`drift_ms\` of each event has those too.
`

/** The page, from the definitions. */
export function metricsDoc(): string {
  const rows = METRIC_LIST.map(
    (metric) =>
      `| \`${metric.name}\` | ${metric.type} | ${labelsOf(metric)} | ${metric.help}${boundsOf(metric)} |`,
  )
  return `${HEAD}\n| metric | kind | labels | |\n|---|---|---|---|\n${rows.join('\n')}\n${TAIL}`
}

function labelsOf({ labels }: MetricDefinition): string {
  return labels.map((label) => `\`${label}\``).join(', ')
}

function boundsOf({ buckets }: MetricDefinition): string {
  return buckets === undefined ? '' : `. Buckets from ${buckets[0]} to ${buckets.at(-1)} s`
}

if (import.meta.main) process.stdout.write(metricsDoc())
