/** Prints docs/reference/metrics.md from the registry's definitions: `node tools/metrics-doc.ts > docs/reference/metrics.md`. */
import { METRIC_LIST, type MetricDefinition } from '../src/server/observability/metric-definitions.ts'

const HEAD = `<!-- Written by tools/metrics-doc.ts from src/server/observability/metric-definitions.ts: change that, then run \`npm run docs\`. -->

# Metrics

The metrics of \`GET /metrics\`. Counters start at 0 with each process, for each known value of a label. Gauges are read at each scrape;
those of the store are left out, with \`wakeful_store_up\` at 0, if the store does not answer within 800 ms. Node's own metrics
(\`process_…\`, \`nodejs_…\`) are included: memory, CPU, the event loop.

No metric has a label for tenants, owners, alarms or endpoints. Each value of a label is a series in Prometheus, and the number of these values is not bounded. The event log
and the server's log name tenants and owners.
`

const TAIL = `
Metrics count what was written. An outcome that was written twice counts once, and one that was voided because another process owned the alarm does not count,
as in the event log. A set in your own transaction counts even if you roll it back.

Lateness covers first attempts that nothing delayed. Retries, and occurrences that waited for a handler, a pause or an
earlier occurrence, are not included. \`drift_ms\` of each event includes them.
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
