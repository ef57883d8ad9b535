import { median } from '../bed.ts'
import type { Cost } from './bed.ts'
import { type Name, RATES, type Rate, type Round } from './measure.ts'

const NAMES: readonly Name[] = ['Wakeful', 'raw', 'graphile-worker', 'pg-boss']

/** Prints medians, and ratios within each round: a noisy neighbour slows down everybody. */
export function print(title: string, rounds: readonly Round[]): void {
  console.log(title)
  for (const rate of RATES) {
    for (const name of NAMES) {
      if (rounds[0]!.rates[rate][name] === undefined) continue
      const of = (key: keyof Cost) => median(rounds.map((round) => round.rates[rate][name]![key]))
      const beside = name === 'Wakeful' ? '' : `   Wakeful ×${timesAsFast(rounds, rate, name).toFixed(2)}`
      console.log(
        `  ${rate.padEnd(9)} ${name.padEnd(16)} ${whole(of('perSecond'))}/s   ${of('clientUs').toFixed(1)} + ${of('serverUs').toFixed(1)} µs${beside}`,
      )
    }
  }
  const late = (key: 'p50' | 'p99' | 'max') => median(rounds.map((round) => round.lateness[key])).toFixed(2)
  const early = rounds.reduce((sum, round) => sum + round.lateness.early, 0)
  console.log(
    `  lateness  p50 ${late('p50')} ms   p99 ${late('p99')} ms   max ${late('max')} ms   early ${early}`,
  )
  for (const key of ['cancels', 'cancelsNear'] as const) {
    const of = (part: 'perSecond' | 'ticks' | 'p99') => median(rounds.map((round) => round[key][part]))
    const words = key === 'cancels' ? 'cancels by 64 callers' : 'the same, a minute before the instant'
    console.log(
      `  ${words}: ${whole(of('perSecond')).trim()}/s, beside ${of('ticks').toFixed(0)} of 300 ticks/s, those p99 ${of('p99').toFixed(1)} ms late`,
    )
  }
  const [one, two] = [median(rounds.map((r) => r.drainBy1)), median(rounds.map((r) => r.drainBy2))]
  console.log(`  drain by one process ${whole(one).trim()}/s, by two ${whole(two).trim()}/s\n`)
}

/** Says of every target whether this run has reached it. */
export function printTargets(empty: readonly Round[], full: readonly Round[] | null): void {
  const of = (rounds: readonly Round[], value: (round: Round) => number) => median(rounds.map(value))
  const least = (words: string, value: number, target: number, unit = '×') =>
    tell(words, value, target, unit, value >= target)
  const most = (words: string, value: number, target: number, unit: string) =>
    tell(words, value, target, unit, value <= target)
  least('drain beside graphile-worker', timesAsFast(empty, 'drain', 'graphile-worker'), 2)
  least('drain of raw', timesAsFast(empty, 'drain', 'raw'), 0.6)
  least('64 callers setting beside pg-boss', timesAsFast(empty, 'setBy64', 'pg-boss'), 8)
  least('setMany beside pg-boss', timesAsFast(empty, 'setMany', 'pg-boss'), 2)
  least(
    'cancels by 64 callers',
    of(empty, (round) => round.cancels.perSecond),
    2000,
    '/s',
  )
  least(
    'ticks beside them',
    of(empty, (round) => round.cancels.ticks),
    297,
    '/s',
  )
  most(
    'lateness p50',
    of(empty, (round) => round.lateness.p50),
    3,
    ' ms',
  )
  most(
    'lateness p99',
    of(empty, (round) => round.lateness.p99),
    11,
    ' ms',
  )
  least(
    'two processes beside one',
    of(empty, (round) => round.drainBy2 / round.drainBy1),
    1.5,
  )
  if (full === null) return
  const late = (key: 'p50' | 'p99') =>
    of(full, (round) => round.lateness[key]) / of(empty, (round) => round.lateness[key])
  most('lateness p50 with a million pending, beside none', late('p50'), 1.2, '×')
  most('lateness p99 with a million pending, beside none', late('p99'), 1.2, '×')
  least('drain of raw with a million pending', timesAsFast(full, 'drain', 'raw'), 0.6)
}

function tell(words: string, value: number, target: number, unit: string, isMet: boolean): void {
  console.log(
    `  ${isMet ? 'met   ' : 'missed'} ${words}: ${value.toFixed(2)}${unit} (target ${target}${unit})`,
  )
}

/** Wakeful's rate through another's, within each round. */
function timesAsFast(rounds: readonly Round[], rate: Rate, name: Name): number {
  return median(rounds.map(({ rates }) => rates[rate].Wakeful!.perSecond / rates[rate][name]!.perSecond))
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US').padStart(8)
}
