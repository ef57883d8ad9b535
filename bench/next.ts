/**
 * `npm run bench:time`: how many next instants a second come of rules in several zones, beside croner and rrule-temporal
 * in the same run. Cold is the first instant of a rule that was never seen; warm is walking on from there.
 */
import { parseArgs } from 'node:util'
import { Cron } from 'croner'
import { RRuleTemporal } from 'rrule-temporal'
import { resolveWhen, scheduleOf, type When } from '../src/time/index.ts'
import { median } from './bed.ts'
import { cronTexts, everyTexts, phraseTexts, rruleTexts } from './next-texts.ts'

const { values } = parseArgs({
  options: {
    rules: { type: 'string', default: '300' },
    steps: { type: 'string', default: '200' },
    rounds: { type: 'string', default: '7' },
  },
})
const [rules, steps, rounds] = [Number(values.rules), Number(values.steps), Number(values.rounds)]
const FROM = Date.parse('2030-01-15T12:00:01Z')

/** A rule to be timed: `cold` finds its first instant from the text; what it leaves behind walks on. */
interface Runner<Given> {
  readonly name: string
  cold(given: Given): (after: number) => number
}

const wakeful: Runner<{ when: When; timezone: string }> = {
  name: 'Wakeful',
  cold({ when, timezone }) {
    const { rule } = resolveWhen(when, { now: FROM, timezone })
    // Compiled for each instant, as the engine does: it knows the rule of a row and nothing of the one before.
    return (after) => scheduleOf(rule).next(after)!
  },
}

const croner: Runner<{ when: { cron: string }; timezone: string }> = {
  name: 'croner',
  cold({ when, timezone }) {
    const cron = new Cron(when.cron, { timezone, mode: '5-or-6-parts' })
    cron.nextRun(new Date(FROM))
    return (after) => cron.nextRun(new Date(after))!.getTime()
  },
}

const rruleTemporal: Runner<{ when: { rrule: string } }> = {
  name: 'rrule-temporal',
  cold({ when }) {
    const rrule = new RRuleTemporal({ rruleString: when.rrule })
    rrule.next(new Date(FROM))
    return (after) => rrule.next(new Date(after))!.epochMilliseconds
  },
}

interface Timed {
  readonly cold: number
  readonly warm: number
}

function timed<Given>({ cold }: Runner<Given>, given: readonly Given[]): Timed {
  const coldFrom = performance.now()
  const walks = given.map(cold)
  const warmFrom = performance.now()
  for (const next of walks) for (let at = FROM, step = 0; step < steps; step++) at = next(at)
  const warmMs = performance.now() - warmFrom
  return { cold: (given.length * 1000) / (warmFrom - coldFrom), warm: (given.length * steps * 1000) / warmMs }
}

/** Each round has rules that no round before had; all runners take their turn on the same ones. */
function compare<Given>(
  kind: string,
  make: (round: number, count: number) => readonly Given[],
  ours: Runner<Given>,
  peers: readonly Runner<Given>[],
): void {
  const runners = [ours, ...peers]
  const measured = new Map<string, Timed[]>(runners.map(({ name }) => [name, []]))
  for (let round = 0; round <= rounds; round++) {
    const given = make(round, rules)
    for (const runner of round % 2 === 0 ? runners : [...runners].reverse()) {
      const found = timed(runner, given)
      // The first round warms up the compiler.
      if (round > 0) measured.get(runner.name)!.push(found)
    }
  }
  for (const { name } of runners) console.log(row(kind, name, measured.get(name)!, measured.get(ours.name)!))
}

function row(kind: string, name: string, own: readonly Timed[], ours: readonly Timed[]): string {
  const cell = (key: keyof Timed) => {
    const rate = Math.round(median(own.map((each) => each[key])))
    const ratio = median(own.map((each, round) => ours[round]![key] / each[key]))
    const beside = own === ours ? '' : `×${ratio.toFixed(1)}`
    return `${rate.toLocaleString('en-US').padStart(10)}/s ${beside.padStart(8)}`
  }
  return `${kind.padEnd(8)} ${name.padEnd(15)} ${cell('cold')}   ${cell('warm')}`
}

console.log(
  `${rules} rules of each kind in six zones, ${steps} steps each; medians of ${rounds} rounds; × is how much faster Wakeful is\n`,
)
console.log(`${' '.repeat(25)}${'cold'.padStart(12)} ${' '.repeat(11)}${'warm'.padStart(12)}`)
compare('cron', cronTexts, wakeful, [croner as typeof wakeful])
compare('rrule', rruleTexts, wakeful, [rruleTemporal as typeof wakeful])
compare('phrase', phraseTexts, wakeful, [])
compare('every', everyTexts, wakeful, [])
