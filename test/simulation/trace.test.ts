import { expect, it } from 'vitest'
import { Trace, type TraceMode } from './trace.ts'

function traced(mode: TraceMode, ...lines: readonly string[]): Trace {
  const trace = new Trace(mode)
  for (const line of lines) trace.note(1, 'ant', line)
  return trace
}

it('has the same hash whether the lines are kept or not', () => {
  const [kept, hashed] = [traced('lines', 'boots', 'dies'), traced('hash', 'boots', 'dies')]
  expect(hashed.hash).toBe(kept.hash)
  expect([kept.lines.length, hashed.lines.length, hashed.count]).toEqual([2, 0, 2])
})

it('has another hash with another line, another order, or another line end', () => {
  const hashes = [['a', 'b'], ['b', 'a'], ['a', 'c'], ['a'], []].map((lines) => traced('hash', ...lines).hash)
  expect(new Set(hashes).size).toBe(hashes.length)
  expect(hashes.every((hash) => /^[0-9a-f]{14}$/.test(hash))).toBe(true)
})
