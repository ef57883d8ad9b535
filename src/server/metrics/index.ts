/** Prometheus metrics: what the engine does, what is under way, and what the server answers. */
export { METRIC_LIST, type MetricDefinition } from './definitions.ts'
export { type ConnectionKind, type MeasuredRequest, Metrics, type MetricsSource } from './metrics.ts'
