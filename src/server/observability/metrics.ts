import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { ObservedAttempt, Observer, PoolReadings, Readings } from '../../library/index.ts'
import type { Clock } from '../../time/index.ts'
import type { LiveConnection } from '../limits/index.ts'
import type { Answered } from './log.ts'
import { METRICS, type MetricDefinition } from './metric-definitions.ts'
import { QuickHistogram } from './quick-histogram.ts'
import { recentReadings, SCRAPE_MS_MAX, withTimeout } from './store-reads.ts'

/** Where the gauges are read from, at each scrape. */
export interface MetricsSource {
  readonly readings: () => Promise<Readings>
  readonly clock: Clock
  /** This machine's own wall clock, in epoch milliseconds. */
  readonly hostNow?: () => number
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'WS'])
/** Routes beyond this many share one label: the number of labels must be bounded. */
const ROUTES_MAX = 300
/** Users choose the names of pools: pools beyond this many share one label. */
const POOLS_MAX = 20

/** The gauges that are read at each scrape. Those of the first list are fields of the readings. */
const COUNTS = ['inFlight', 'queued', 'unsettled', 'backlog', 'inboxWaiting'] as const
const BY_POOL = ['lag', 'withoutHandler', 'shards'] as const
const OTHERS = ['storeUp', 'clockCorrection', 'secret'] as const
type GaugeName = (typeof COUNTS | typeof BY_POOL | typeof OTHERS)[number]

/** The metrics of a server. */
export class Metrics {
  /** Counts what the engine does. Pass it to `open`. */
  readonly observer: Observer
  readonly #registry = new Registry()
  readonly #routes = new Set<string>()
  readonly #requests = this.#counter(METRICS.requests)
  readonly #requestDuration = this.#histogram(METRICS.requestDuration)
  readonly #connections = this.#gauge(METRICS.connections)
  readonly #gauges = Object.fromEntries(
    [...COUNTS, ...BY_POOL, ...OTHERS].map((name) => [name, this.#gauge(METRICS[name])]),
  ) as Readonly<Record<GaugeName, Gauge>>
  #source: MetricsSource | null = null

  /** With `process`, Node's own metrics are included: memory, CPU, the event loop. */
  constructor({ version, node, process = false }: { version: string; node: string; process?: boolean }) {
    this.observer = this.#observe()
    this.#gauge(METRICS.build).set({ version, node }, 1)
    this.#clear()
    if (process) collectDefaultMetrics({ register: this.#registry })
  }

  /** Sets where the gauges are read from, once Wakeful is open. */
  attach(source: MetricsSource): void {
    this.#source = { ...source, readings: recentReadings(source.readings, source.clock) }
  }

  request(
    { method, route, status }: Pick<Answered, 'method' | 'route' | 'status'>,
    durationMs: number,
  ): void {
    const labels = { method: METHODS.has(method) ? method : 'OTHER', route: this.#routeOf(route) }
    this.#requests.inc({ ...labels, status: String(status) })
    this.#requestDuration.observe(labels, durationMs / 1000)
  }

  /** Counts a connection until the function returned is called. */
  connected(kind: LiveConnection['kind']): () => void {
    this.#connections.inc({ kind })
    let isOpen = true
    return () => {
      if (isOpen) this.#connections.dec({ kind })
      isOpen = false
    }
  }

  /** All metrics in Prometheus' text format, also while the store is down. */
  async text(): Promise<{ contentType: string; body: string }> {
    if (this.#source !== null) await this.#read(this.#source)
    return { contentType: this.#registry.contentType, body: await this.#registry.metrics() }
  }

  async #read(source: MetricsSource): Promise<void> {
    const { storeUp, clockCorrection } = this.#gauges
    const { hostNow, clock } = source
    try {
      const readings = await withTimeout(source.readings(), SCRAPE_MS_MAX, clock)
      if (hostNow !== undefined) clockCorrection.set((clock.now() - hostNow()) / 1000)
      this.#set(readings)
      storeUp.set(readings.takesWrites ? 1 : 0)
    } catch {
      this.#clear()
      storeUp.set(0)
    }
  }

  /** Removes what cannot be read: an old figure, or zero, would look valid. */
  #clear(): void {
    for (const name of BY_POOL) this.#gauges[name].reset()
    for (const name of [...COUNTS, ...OTHERS]) this.#gauges[name].remove()
  }

  #set(readings: Readings): void {
    const gauges = this.#gauges
    for (const name of COUNTS) gauges[name].set(readings[name])
    gauges.secret.set(readings.hasSecret ? 1 : 0)
    // Pools of the last scrape may be gone.
    for (const name of BY_POOL) gauges[name].reset()
    for (const { pool, lagMs, withoutHandlerMs, here, elsewhere, nobody } of folded(readings.pools)) {
      gauges.lag.set({ pool }, lagMs / 1000)
      gauges.withoutHandler.set({ pool }, withoutHandlerMs / 1000)
      for (const [owner, count] of Object.entries({ here, elsewhere, nobody }))
        gauges.shards.set({ pool, owner }, count)
    }
  }

  #observe(): Observer {
    const attempts = this.#counter(METRICS.attempts)
    const lateness = new QuickHistogram(METRICS.lateness, this.#registry)
    const deferred = new QuickHistogram(METRICS.deferred, this.#registry)
    const duration = new QuickHistogram(METRICS.attemptDuration, this.#registry)
    const skipped = this.#counter(METRICS.skipped)
    const overdue = this.#counter(METRICS.reportsOverdue)
    const settle = this.#histogram(METRICS.settle)
    const sets = this.#counter(METRICS.sets)
    const storeErrors = this.#counter(METRICS.storeErrors)
    return {
      attempted: (batch) => {
        countAttempts(batch, attempts)
        for (const { target, outcome, latenessMs, deferredMs, durationMs } of batch) {
          if (latenessMs !== null) lateness.observe(target, latenessMs / 1000)
          if (deferredMs !== null) deferred.observe(target, deferredMs / 1000)
          if (outcome !== 'released') duration.observe(target, durationMs / 1000)
        }
      },
      skipped: (reason, count) => skipped.inc({ reason }, count),
      reportOverdue: () => overdue.inc(),
      settled: (durationMs) => settle.observe(durationMs / 1000),
      set: (outcome) => sets.inc({ outcome }),
      storeFailed: (call) => storeErrors.inc({ call }),
    }
  }

  #routeOf(route: string): string {
    if (this.#routes.has(route)) return route
    if (this.#routes.size >= ROUTES_MAX) return 'other'
    this.#routes.add(route)
    return route
  }

  #counter({ name, help, labels, known = [] }: MetricDefinition): Counter {
    const counter = new Counter({ name, help, labelNames: [...labels], registers: [this.#registry] })
    for (const series of known) counter.inc(series, 0)
    return counter
  }

  #gauge({ name, help, labels }: MetricDefinition): Gauge {
    return new Gauge({ name, help, labelNames: [...labels], registers: [this.#registry] })
  }

  #histogram({ name, help, labels, buckets = [] }: MetricDefinition): Histogram {
    const registers = [this.#registry]
    return new Histogram({ name, help, labelNames: [...labels], buckets: [...buckets], registers })
  }
}

/** The pools with a label of their own: those that run here first, then the oldest. The others are added up. */
function folded(pools: readonly PoolReadings[]): readonly PoolReadings[] {
  if (pools.length <= POOLS_MAX) return pools
  const order = pools.toSorted((a, b) => Number(b.here > 0) - Number(a.here > 0))
  const other = order.slice(POOLS_MAX).reduce((sum, pool) => ({
    pool: sum.pool,
    here: sum.here + pool.here,
    elsewhere: sum.elsewhere + pool.elsewhere,
    nobody: sum.nobody + pool.nobody,
    lagMs: Math.max(sum.lagMs, pool.lagMs),
    withoutHandlerMs: Math.max(sum.withoutHandlerMs, pool.withoutHandlerMs),
  }))
  return [...order.slice(0, POOLS_MAX), { ...other, pool: 'other' }]
}

/** Most of a batch has one target kind and one outcome: equal neighbours are added up before the slower counter is called. */
function countAttempts(batch: readonly ObservedAttempt[], counter: Counter): void {
  let run = 0
  for (const [index, { target, outcome }] of batch.entries()) {
    run += 1
    const next = batch[index + 1]
    if (next?.target === target && next.outcome === outcome) continue
    counter.inc({ target, outcome }, run)
    run = 0
  }
}
