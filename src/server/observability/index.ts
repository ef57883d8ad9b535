/** The log, the metrics, and the health checks. */
export { type AdminAct, type Answered, Log, type LogLevel, type LogOptions } from './log.ts'
export { Metrics } from './metrics.ts'
export { MetricsAccess } from './metrics-access.ts'
export { addMonitoringRoutes } from './monitoring-routes.ts'
export { recentReadings } from './store-reads.ts'
