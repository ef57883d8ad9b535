/** The log, the metrics, and the health checks. */
export { type Answered, Log, type LogLevel, type LogOptions, requestLine } from './log.ts'
export { Metrics } from './metrics.ts'
export { addMonitoringRoutes, MetricsAccess } from './monitoring-routes.ts'
export { recentReadings } from './recent-readings.ts'
