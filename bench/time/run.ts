/** `npm run bench:time`: how many next instants per second Wakeful computes, compared with croner and rrule-temporal. */
import { Cron } from 'croner'
import { RRuleTemporal } from 'rrule-temporal'
import { resolveWhen, scheduleOf } from '../../src/time/index.ts'
import { readCommandLine } from '../command-line.ts'
import { formatWhole, median } from '../statistics.ts'
import { cronSchedules, everySchedules, phraseSchedules, rruleSchedules, type Schedule } from './schedules.ts'

const { rules, steps, rounds } = readCommandLine({
  script: 'bench:time',
  summary: 'Measures how fast next instants are computed, compared with croner and rrule-temporal.',
  duration: 'about 20 seconds',
  numbers: {
    rules: { description: 'how many rules of each kind', min: 1, full: 300, smoke: 12 },
    steps: {
      description: 'how many instants are computed per rule',
      min: 1,
      full: 200,
      quick: 200,
      smoke: 5,
    },
    rounds: {
      description: 'how often everything is measured; the medians are printed',
      min: 1,
      full: 7,
      smoke: 1,
    },
  },
}).numbers
const FROM = Date.parse('2030-01-15T12:00:01Z')

/** An implementation to be timed: `start` parses a schedule and finds its first instant; its result finds the next. */
interface Implementation<S> {
  readonly name: string
  start(schedule: S): (after: number) => number
}

const wakeful: Implementation<Schedule> = {
  name: 'Wakeful',
  start({ when, timezone }) {
    const { rule } = resolveWhen(when, { now: FROM, timezone })
    // Looked up again for each instant, as in the engine, which only knows the rule of the row it has read.
    return (after) => scheduleOf(rule).next(after)!
  },
}

const croner: Implementation<Schedule<{ cron: string }>> = {
  name: 'croner',
  start({ when, timezone }) {
    const cron = new Cron(when.cron, { timezone, mode: '5-or-6-parts' })
    cron.nextRun(new Date(FROM))
    return (after) => cron.nextRun(new Date(after))!.getTime()
  },
}

const rruleTemporal: Implementation<Schedule<{ rrule: string }>> = {
  name: 'rrule-temporal',
  start({ when }) {
    const rrule = new RRuleTemporal({ rruleString: when.rrule })
    rrule.next(new Date(FROM))
    return (after) => rrule.next(new Date(after))!.epochMilliseconds
  },
}

/** Instants per second. */
interface Rates {
  /** The first instant of a schedule that was never seen. */
  readonly cold: number
  /** The instants after it. */
  readonly warm: number
}

function measure<S>({ start }: Implementation<S>, schedules: readonly S[]): Rates {
  const coldFrom = performance.now()
  const nexts = schedules.map(start)
  const warmFrom = performance.now()
  for (const next of nexts) for (let at = FROM, step = 0; step < steps; step++) at = next(at)
  const warmMs = performance.now() - warmFrom
  return {
    cold: (schedules.length * 1000) / (warmFrom - coldFrom),
    warm: (schedules.length * steps * 1000) / warmMs,
  }
}

/** Each round has schedules that no round before had; all implementations get the same ones. */
function compare<S extends Schedule>(
  kind: string,
  make: (round: number, count: number) => readonly S[],
  peers: readonly Implementation<S>[],
): void {
  const all: readonly Implementation<S>[] = [wakeful, ...peers]
  const measured = new Map<string, Rates[]>(all.map(({ name }) => [name, []]))
  for (let round = 0; round <= rounds; round++) {
    const schedules = make(round, rules)
    for (const implementation of round % 2 === 0 ? all : [...all].reverse()) {
      const rates = measure(implementation, schedules)
      // The first round warms up the compiler.
      if (round > 0) measured.get(implementation.name)!.push(rates)
    }
  }
  for (const { name } of all) console.log(row(kind, name, measured.get(name)!, measured.get(wakeful.name)!))
}

function row(kind: string, name: string, own: readonly Rates[], ours: readonly Rates[]): string {
  const cell = (key: keyof Rates) => {
    const rate = median(own.map((each) => each[key]))
    const ratio = median(own.map((each, round) => ours[round]![key] / each[key]))
    return `${formatWhole(rate).padStart(10)}/s ${(own === ours ? '' : `×${ratio.toFixed(1)}`).padStart(8)}`
  }
  return `${kind.padEnd(8)} ${name.padEnd(15)} ${cell('cold')}   ${cell('warm')}`
}

console.log(
  `${rules} rules of each kind in six time zones, ${steps} instants each; medians, rounds: ${rounds};
cold = the first instant of a new rule, warm = the instants after it; × = how many times as fast Wakeful is
`,
)
console.log(`${' '.repeat(25)}${'cold'.padStart(12)} ${' '.repeat(11)}${'warm'.padStart(12)}`)
compare('cron', cronSchedules, [croner])
compare('rrule', rruleSchedules, [rruleTemporal])
compare('phrase', phraseSchedules, [])
compare('every', everySchedules, [])
