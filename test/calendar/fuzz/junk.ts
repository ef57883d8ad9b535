import type { Random } from '../../random.ts'
import { pick } from './subject.ts'

/** Thrown by a getter of the caller; it must pass through unchanged. */
export class TrapError extends Error {
  override readonly name = 'TrapError'
}

const NUMBERS = [
  0,
  -0,
  1,
  -1,
  0.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  2 ** 53,
  2 ** 31,
  1e308,
  5e-324,
  1.7e12,
]
const TEXTS = [
  '',
  ' ',
  '0',
  'null',
  'undefined',
  '[object Object]',
  '__proto__',
  '5m',
  '1 month',
  'UTC',
  '2026-01-01T00:00Z',
  '\ud800',
]

class Own {
  every = '5m'
}

/** Values that no parser expects. New ones for each input, so that inputs share nothing. */
export function junk(random: Random, depth = 0): unknown {
  const nested = () => (depth < 3 ? junk(random, depth + 1) : null)
  return random.weighted<() => unknown>([
    [4, () => pick(random, NUMBERS)],
    [4, () => pick(random, TEXTS)],
    [
      2,
      () => pick<unknown>(random, [undefined, null, true, false, 10n, 10n ** 40n, Symbol('s'), () => '5m']),
    ],
    [2, () => pick(random, dates())],
    [2, () => Array.from({ length: random.between(0, 3) }, nested)],
    [
      2,
      () =>
        Object.fromEntries(
          ['all', 'max', 'gap', 'every'].filter(() => random.chance(0.4)).map((name) => [name, nested()]),
        ),
    ],
    [1, () => JSON.parse('{"__proto__":{"every":"5m"},"constructor":1}')],
    [2, () => pick(random, impostors())],
  ])()
}

function dates(): unknown[] {
  return [new Date(0), new Date(Number.NaN), new Date(8.64e15), new Date(-1), new Date(1.7e12)]
}

/** Objects that imitate others, or override their methods. */
function impostors(): unknown[] {
  return [
    new Own(),
    Object.create({ every: '5m' }),
    Object.create(Date.prototype),
    { [Symbol.toStringTag]: 'Date', getTime: () => 0 },
    { [Symbol.toStringTag]: 'Temporal.Instant' },
    { [Symbol.toStringTag]: 'Temporal.Instant', epochNanoseconds: 10n ** 40n },
    Object.assign(new Date(0), { getTime: () => Number.NaN, toISOString: () => 5 }),
    { toString: () => '5m', valueOf: () => 7 },
    new Map([['every', '5m']]),
    new String('5m'),
    new Number(5),
    new Proxy({ every: '5m' }, {}),
    /5m/,
  ]
}
