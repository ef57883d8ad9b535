/** How many per second. */
export function perSecond(count: number, startedAt: number): number {
  return count / ((performance.now() - startedAt) / 1000)
}

/** How many per second, and the processor time of each in microseconds: other load on the machine blurs only the first. */
export interface Throughput {
  readonly perSecond: number
  readonly cpuUs: number
}

/** Starts a stopwatch; call the result with how many were done since. */
export function startStopwatch(): (count: number) => Throughput {
  const [startedAt, before] = [performance.now(), process.cpuUsage()]
  return (count) => {
    const { user, system } = process.cpuUsage(before)
    return { perSecond: perSecond(count, startedAt), cpuUs: (user + system) / count }
  }
}

/** The middle of several measurements. */
export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!
}

/** The value below which this share of the sorted values lies. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
}

/** How late alarms were, in milliseconds. */
export interface Lateness {
  readonly p50: number
  readonly p99: number
  readonly max: number
  readonly early: number
}

/** A whole number with separators: 1,234. */
export function formatWhole(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

/** The medians over the rounds, in one line. */
export function formatLateness(rounds: readonly Lateness[]): string {
  const of = (key: 'p50' | 'p99' | 'max') => median(rounds.map((round) => round[key])).toFixed(2)
  const early = rounds.reduce((sum, round) => sum + round.early, 0)
  return `p50 ${of('p50')} ms   p99 ${of('p99')} ms   max ${of('max')} ms   early ${early}`
}
