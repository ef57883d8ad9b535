import { formatLateness, formatWhole, median } from '../statistics.ts'
import { DUE_PER_SECOND } from './cancel.ts'
import { type Name, RATES, type Rate, type Round } from './measure.ts'

const NAMES: readonly Name[] = ['Wakeful', 'raw', 'graphile-worker', 'pg-boss']

/** Prints medians, and ratios within each round: other load on the machine slows down everybody alike. */
export function print(title: string, rounds: readonly Round[]): void {
  console.log(title)
  for (const rate of RATES)
    for (const name of NAMES)
      if (rounds[0]!.rates[rate][name] !== undefined) console.log(rateRow(rounds, rate, name))
  console.log(`  lateness  ${formatLateness(rounds.map((round) => round.lateness))}`)
  for (const [key, label] of [
    ['cancels', 'cancels by 64 callers'],
    ['cancelsSoonDue', 'cancels of alarms due within a minute'],
  ] as const) {
    const of = (part: keyof Round['cancels']) => median(rounds.map((round) => round[key][part]))
    console.log(
      `  ${label}: ${formatWhole(of('perSecond'))}/s; meanwhile ${of('firesPerSecond').toFixed(0)} of ${DUE_PER_SECOND} fires/s, p99 ${of('p99').toFixed(1)} ms late`,
    )
  }
  const [one, two] = [median(rounds.map((r) => r.drainBy1)), median(rounds.map((r) => r.drainBy2))]
  console.log(`  drain by one process ${formatWhole(one)}/s, by two ${formatWhole(two)}/s\n`)
}

function rateRow(rounds: readonly Round[], rate: Rate, name: Name): string {
  const costs = rounds.map((round) => round.rates[rate][name]!)
  const perSecond = formatWhole(median(costs.map((cost) => cost.perSecond))).padStart(8)
  const client = median(costs.map((cost) => cost.clientUs)).toFixed(1)
  const server = costs.map((cost) => cost.serverUs).filter((us) => us !== null)
  const ratio = name === 'Wakeful' ? '' : `   Wakeful ×${ratioTo(rounds, rate, name).toFixed(2)}`
  const serverText = server.length === 0 ? 'unknown' : median(server).toFixed(1)
  return `  ${rate.padEnd(9)} ${name.padEnd(16)} ${perSecond}/s   ${client} + ${serverText} µs${ratio}`
}

/** Prints for every target whether this run has met it. */
export function printTargets(empty: readonly Round[], full: readonly Round[] | null): void {
  const of = (rounds: readonly Round[], value: (round: Round) => number) => median(rounds.map(value))
  const cancels = of(empty, (round) => round.cancels.perSecond)
  const fires = of(empty, (round) => round.cancels.firesPerSecond)
  const twoProcesses = of(empty, (round) => round.drainBy2 / round.drainBy1)
  const late = (rounds: readonly Round[], key: 'p50' | 'p99') => of(rounds, (round) => round.lateness[key])
  atLeast('drain compared with graphile-worker', ratioTo(empty, 'drain', 'graphile-worker'), 2, '×')
  atLeast('drain compared with raw', ratioTo(empty, 'drain', 'raw'), 0.6, '×')
  atLeast('set by 64 callers compared with pg-boss', ratioTo(empty, 'setBy64', 'pg-boss'), 8, '×')
  atLeast('setMany compared with pg-boss', ratioTo(empty, 'setMany', 'pg-boss'), 2, '×')
  atLeast('cancels by 64 callers', cancels, 2000, '/s')
  atLeast('fires during the cancels', fires, 297, '/s')
  atMost('lateness p50', late(empty, 'p50'), 3, ' ms')
  atMost('lateness p99', late(empty, 'p99'), 11, ' ms')
  atLeast('drain by two processes compared with one', twoProcesses, 1.5, '×')
  if (full === null) return
  atMost('lateness p50 compared with empty tables', late(full, 'p50') / late(empty, 'p50'), 1.2, '×')
  atMost('lateness p99 compared with empty tables', late(full, 'p99') / late(empty, 'p99'), 1.2, '×')
  atLeast('drain compared with raw, with pending alarms', ratioTo(full, 'drain', 'raw'), 0.6, '×')
}

function atLeast(label: string, value: number, target: number, unit: string): void {
  printTarget(label, value >= target, value, `at least ${target}${unit}`, unit)
}

function atMost(label: string, value: number, target: number, unit: string): void {
  printTarget(label, value <= target, value, `at most ${target}${unit}`, unit)
}

function printTarget(label: string, isMet: boolean, value: number, target: string, unit: string): void {
  console.log(`  ${isMet ? 'met   ' : 'missed'} ${label}: ${value.toFixed(2)}${unit} (target: ${target})`)
}

/** Wakeful's rate divided by another's, within each round. */
function ratioTo(rounds: readonly Round[], rate: Rate, name: Name): number {
  return median(rounds.map(({ rates }) => rates[rate].Wakeful!.perSecond / rates[rate][name]!.perSecond))
}
