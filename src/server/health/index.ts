/** Whether this process lives, and whether it is ready: what `/healthz` and `/readyz` answer. */
export { type Health, type HealthCheck, liveness, type ReadinessPorts, readiness } from './health.ts'
