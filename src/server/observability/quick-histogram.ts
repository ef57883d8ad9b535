import type { Histogram, Registry } from 'prom-client'
import type { MetricDefinition } from './metric-definitions.ts'

interface Series {
  /** How many fell into each bucket, not cumulated; the last bucket has no bound. */
  readonly counts: Float64Array
  sum: number
}

/**
 * A histogram with one label, for the engine's loop. prom-client's checks and hashes its labels at every observation, which
 * took 0.3 µs of each fire. This one takes a tenth of that, and is cumulated when it is scraped.
 */
export class QuickHistogram {
  readonly name: string
  readonly type = 'histogram'
  readonly #help: string
  readonly #label: string
  readonly #bounds: readonly number[]
  readonly #series = new Map<string, Series>()

  constructor({ name, help, labels, buckets = [] }: MetricDefinition, registry: Registry) {
    this.name = name
    this.#help = help
    this.#label = labels[0] ?? ''
    this.#bounds = buckets
    // A registry uses only the name and `get` of a metric.
    registry.registerMetric(this as unknown as Histogram)
  }

  observe(label: string, value: number): void {
    let series = this.#series.get(label)
    if (series === undefined) {
      series = { counts: new Float64Array(this.#bounds.length + 1), sum: 0 }
      this.#series.set(label, series)
    }
    let at = 0
    while (at < this.#bounds.length && value > this.#bounds[at]!) at += 1
    series.counts[at]! += 1
    series.sum += value
  }

  get() {
    const { name, type } = this
    const values = [...this.#series].flatMap(([label, series]) => this.#valuesOf(label, series))
    return Promise.resolve({ name, type, help: this.#help, aggregator: 'sum', values })
  }

  #valuesOf(label: string, { counts, sum }: Series) {
    const { name } = this
    const shared = { [this.#label]: label }
    let total = 0
    const buckets = [...this.#bounds, '+Inf'].map((le, at) => {
      total += counts[at]!
      return { metricName: `${name}_bucket`, labels: { le, ...shared }, value: total }
    })
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels: shared, value: sum },
      { metricName: `${name}_count`, labels: shared, value: total },
    ]
  }
}
