/** Sorted distinct integers; some sequences are too long to be stored as a list. */
export interface Sequence {
  readonly length: number
  /** The number at a valid index. */
  at(index: number): number
  /** The index of the first number at or after this one; the length if there is none. */
  indexFrom(value: number): number
}

/** A sequence of these numbers. Evenly spaced ones, which are most (one value, every fifth minute), need no search. */
export function list(numbers: readonly number[]): Sequence {
  const [first = 0, second = first + 1] = numbers
  const step = second - first
  const isEvenlySpaced = numbers.every((number, index) => number === first + index * step)
  if (isEvenlySpaced) return stride(first, step, first + numbers.length * step)
  return {
    length: numbers.length,
    at: (index) => numbers[index]!,
    indexFrom: (value) => lowerBound(numbers, value),
  }
}

/** The numbers `first`, `first + step` and so on, below `end`. */
export function stride(first: number, step: number, end: number): Sequence {
  const length = first < end ? Math.ceil((end - first) / step) : 0
  return {
    length,
    at: (index) => first + index * step,
    indexFrom: (value) => Math.min(length, Math.max(0, Math.ceil((value - first) / step))),
  }
}

/**
 * All sums `o * weight + i`, with `o` from `outer` and `i` from `inner`, whose numbers must be below `weight`: days and
 * times of day, or hours and minutes. A rule for every second of a day stores three short lists, not 86,400 numbers.
 */
export function product(outer: Sequence, weight: number, inner: Sequence): Sequence {
  const size = inner.length
  return {
    length: outer.length * size,
    at(index) {
      const outerIndex = Math.floor(index / size)
      return outer.at(outerIndex) * weight + inner.at(index - outerIndex * size)
    },
    indexFrom(value) {
      const quotient = Math.floor(value / weight)
      const index = outer.indexFrom(quotient)
      const isPresent = index < outer.length && outer.at(index) === quotient
      return index * size + (isPresent ? inner.indexFrom(value - quotient * weight) : 0)
    },
  }
}

const FLATTENED_MAX = 256

/** Turns a short sequence into a list, which is faster to search. */
export function flattened(sequence: Sequence): Sequence {
  if (sequence.length > FLATTENED_MAX) return sequence
  return list(Array.from({ length: sequence.length }, (_, index) => sequence.at(index)))
}

/** The numbers at these positions of a sequence: 1 is the first, -1 the last. */
export function atPositions(all: Sequence, positions: readonly number[]): Sequence {
  const indexes = positions.map((position) => (position > 0 ? position - 1 : all.length + position))
  const valid = new Set(indexes.filter((index) => index >= 0 && index < all.length))
  return list([...valid].sort((a, b) => a - b).map((index) => all.at(index)))
}

/** The index of the first number at or after this one in a sorted list. */
function lowerBound(numbers: readonly number[], value: number): number {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (numbers[middle]! < value) low = middle + 1
    else high = middle
  }
  return low
}
