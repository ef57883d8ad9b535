import { WakefulError } from '../../../src/error.ts'
import { Random } from '../../random.ts'
import { assertRefusal } from './checks.ts'
import { randomContext, type Subject } from './subject.ts'

/** The result of fuzzing one parser. */
export interface Fuzzed {
  readonly name: string
  readonly inputs: number
  accepted: number
  refused: number
  /** Processor time of the slowest input, which excludes other processes. */
  slowestMs: number
  slowestSeed: number
  /** How many were over the limit once, but not when repeated. */
  retried: number
  /** Each with its seed and input. */
  readonly faults: string[]
}

/** The limit per input. */
export const LIMIT_MS = 50
const FAULTS_MAX = 10
const INPUT_LENGTH_MAX = 600

/** Runs a parser on this many inputs. Each has its own seed: `fuzz(subject, 1, seed)` repeats it alone. */
export function fuzz(subject: Subject, count: number, seed: number, limitMs = LIMIT_MS): Fuzzed {
  const found: Fuzzed = {
    name: subject.name,
    inputs: count,
    accepted: 0,
    refused: 0,
    slowestMs: 0,
    slowestSeed: seed,
    retried: 0,
    faults: [],
  }
  for (let index = 0; index < count && found.faults.length < FAULTS_MAX; index++) {
    const own = (seed + index) % 2 ** 32
    try {
      one(subject, own, limitMs, found)
    } catch (thrown) {
      found.faults.push(`seed ${own}: ${String(thrown)}\n  ${formatInput(subject, own)}\n${where(thrown)}`)
    }
  }
  return found
}

interface Tried {
  readonly answer?: unknown
  readonly refusal?: unknown
  readonly ms: number
}

function one(subject: Subject, seed: number, limitMs: number, found: Fuzzed): void {
  const first = tryOnce(subject, seed)
  const ms = first.ms > limitMs ? fastest(subject, seed, first.ms, found) : first.ms
  if (ms > found.slowestMs) Object.assign(found, { slowestMs: ms, slowestSeed: seed })
  if (ms > limitMs) throw new Error(`takes ${ms.toFixed(0)} ms`)
  const { input, context } = made(subject, seed)
  if ('refusal' in first) {
    assertRefusal(first.refusal, input)
    found.refused += 1
    return
  }
  found.accepted += 1
  const { answer } = first
  // Generated again, because a getter may return another value the second time.
  const again = tryOnce(subject, seed)
  if ('refusal' in again || JSON.stringify(again.answer) !== JSON.stringify(answer)) {
    throw new Error(`is read as ${JSON.stringify(answer)}, and then as ${JSON.stringify(again)}`)
  }
  subject.check?.(input, answer, context)
}

function made(subject: Subject, seed: number, padding = '') {
  const random = new Random(seed)
  const context = randomContext(random)
  const input = subject.make(random, context)
  return { context, input: padding === '' ? input : padded(input, padding) }
}

function tryOnce(subject: Subject, seed: number, padding = ''): Tried {
  const { input, context } = made(subject, seed, padding)
  const before = process.threadCpuUsage()
  const tried = attempt(() => subject.read(input, context))
  const { user, system } = process.threadCpuUsage(before)
  return { ...tried, ms: (user + system) / 1000 }
}

function attempt<Answer>(work: () => Answer): { answer: Answer } | { refusal: unknown } {
  try {
    return { answer: work() }
  } catch (refusal) {
    return { refusal }
  }
}

/** Rules out garbage collection: an input is slow only if it is slow three more times, with nothing cached. */
function fastest(subject: Subject, seed: number, first: number, found: Fuzzed): number {
  found.retried += 1
  return Math.min(first, ...[' ', '  ', '   '].map((padding) => tryOnce(subject, seed, padding).ms))
}

/** The same input with trailing spaces, which parsers ignore, so that no cache has it. */
function padded(input: unknown, padding: string): unknown {
  if (typeof input === 'string') return input + padding
  if (typeof input !== 'object' || input === null) return input
  const fields = Object.entries(Object.getOwnPropertyDescriptors(input))
  const texts = fields.filter(([, field]) => typeof field.value === 'string')
  return Object.assign(input, Object.fromEntries(texts.map(([name, { value }]) => [name, value + padding])))
}

function formatInput(subject: Subject, seed: number): string {
  const { input, context } = made(subject, seed)
  const text = attempt(() => JSON.stringify({ input, ...context }))
  return ('answer' in text ? text.answer : 'an input that cannot be formatted').slice(0, INPUT_LENGTH_MAX)
}

/** Where an unexpected error was thrown. */
function where(thrown: unknown): string {
  const cause = (thrown as Error).cause ?? thrown
  if (cause instanceof WakefulError) return `  ${cause.message}`
  return String((cause as Error).stack)
    .split('\n')
    .slice(1, 5)
    .join('\n')
}
