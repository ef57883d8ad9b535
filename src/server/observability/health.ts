import { WakefulError } from '../../error.ts'
import type { Readings } from '../../library/index.ts'
import type { Clock } from '../../time/index.ts'
import { TimedOut, withTimeout } from '../limits/index.ts'

/** One thing that was checked. */
export interface HealthCheck {
  readonly ok: boolean
  /** What was found. */
  readonly detail: string
}

/** An answer of `/healthz` or `/readyz`. */
export interface Health {
  readonly status: 200 | 503
  readonly body: {
    readonly status: 'ok' | 'unavailable'
    readonly checks: Readonly<Record<string, HealthCheck>>
  }
}

/** What readiness is decided by. */
export interface ReadinessOptions {
  readonly readings: () => Promise<Readings>
  readonly clock: Clock
  /** How long the store may take to answer. */
  readonly timeoutMs: number
  /** How late alarms may fire. */
  readonly lagMsMax: number
  /** Whether the server is draining. */
  readonly isStopping: () => boolean
}

/** `/healthz`: the process runs. It does not ask the store: a store that is down is no reason to restart this process. */
export function liveness(): Health {
  return healthOf({ process: { ok: true, detail: 'running' } })
}

/** `/readyz`: whether requests should be sent here, and whether alarms fire. */
export async function readiness(ports: ReadinessOptions): Promise<Health> {
  const { clock, timeoutMs, lagMsMax, isStopping } = ports
  const from = clock.monotonic()
  const stopping = isStopping()
  const process = {
    ok: !stopping,
    detail: stopping ? 'stopping: waiting for running deliveries' : 'running',
  }
  try {
    const readings = await withTimeout(ports.readings(), timeoutMs, clock)
    const durationMs = Math.round(clock.monotonic() - from)
    const { takesWrites } = readings
    const isReadOnly = takesWrites ? '' : ', but does not accept writes: it is read-only, or a standby'
    const store = { ok: takesWrites, detail: `answered in ${durationMs} ms${isReadOnly}` }
    return healthOf({ process, store, shards: shardsOf(readings), lag: lagOf(readings, lagMsMax) })
  } catch (thrown) {
    return healthOf({ process, store: { ok: false, detail: refusal(thrown) } })
  }
}

function healthOf(checks: Readonly<Record<string, HealthCheck>>): Health {
  const isOk = Object.values(checks).every(({ ok }) => ok)
  return { status: isOk ? 200 : 503, body: { status: isOk ? 'ok' : 'unavailable', checks } }
}

/** A standby process is ready: it answers calls, and takes over when another process ends. */
function shardsOf({ isRunning, pools }: Readings): HealthCheck {
  if (!isRunning) return { ok: false, detail: 'the engine was not started here' }
  const sum = (count: (pool: Readings['pools'][number]) => number) =>
    pools.reduce((total, pool) => total + count(pool), 0)
  const [here, elsewhere, unowned] = [sum((p) => p.here), sum((p) => p.elsewhere), sum((p) => p.nobody)]
  const standby = here === 0 && elsewhere > 0 ? ', standing by' : ''
  const detail = `${here} run here, ${elsewhere} in other processes, ${unowned} in none${standby}`
  return { ok: here > 0 || elsewhere > 0, detail }
}

function lagOf({ pools }: Readings, lagMsMax: number): HealthCheck {
  // Only pools that run here count: a pool that no process serves is not a reason to send requests elsewhere.
  const lags = pools.filter(({ here }) => here > 0).map(({ lagMs }) => lagMs)
  const worst = Math.max(0, ...lags)
  const detail = `the oldest due alarm is ${seconds(worst)} late; the limit is ${seconds(lagMsMax)}`
  return { ok: worst <= lagMsMax, detail }
}

function seconds(ms: number): string {
  return `${Math.round(ms) / 1_000} s`
}

/** Callers need no key, so the answer contains neither the store's address nor its error. The log has both. */
function refusal(thrown: unknown): string {
  if (thrown instanceof TimedOut) return thrown.message
  return thrown instanceof WakefulError && thrown.code === 'schema_too_new'
    ? 'the store was changed by a newer version'
    : 'the store does not answer'
}
