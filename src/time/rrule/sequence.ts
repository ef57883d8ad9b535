/** Whole numbers in rising order, without repeats: some of them are too many to be written out. */
export interface Sequence {
  readonly length: number
  /** The number at an index that is in range. */
  at(index: number): number
  /** The index of the first number at or after this one; the length where there is none. */
  from(value: number): number
}

/** Numbers that are written out. */
export function list(numbers: readonly number[]): Sequence {
  return {
    length: numbers.length,
    at: (index) => numbers[index]!,
    from: (value) => lowerBound(numbers, value),
  }
}

/** The numbers `first`, `first + step` and so on, below `end`. */
export function stride(first: number, step: number, end: number): Sequence {
  const length = first < end ? Math.ceil((end - first) / step) : 0
  return {
    length,
    at: (index) => first + index * step,
    from: (value) => Math.min(length, Math.max(0, Math.ceil((value - first) / step))),
  }
}

/**
 * All sums of a number of `outer`, which counts for `weight`, and one of `inner`, which is below that: days and times
 * of day, hours and minutes. A day of 86,400 named seconds costs no more than its three short lists.
 */
export function product(outer: Sequence, weight: number, inner: Sequence): Sequence {
  const size = inner.length
  return {
    length: outer.length * size,
    at(index) {
      const place = Math.floor(index / size)
      return outer.at(place) * weight + inner.at(index - place * size)
    },
    from(value) {
      const whole = Math.floor(value / weight)
      const place = outer.from(whole)
      const same = place < outer.length && outer.at(place) === whole
      return place * size + (same ? inner.from(value - whole * weight) : 0)
    },
  }
}

/** The numbers at some places of a sequence: positive ones from the start (1 is the first), negative from the end. */
export function atPositions(all: Sequence, positions: readonly number[]): Sequence {
  const places = positions.map((position) => (position > 0 ? position - 1 : all.length + position))
  const sound = new Set(places.filter((place) => place >= 0 && place < all.length))
  return list([...sound].sort((a, b) => a - b).map((place) => all.at(place)))
}

/** The index of the first number, of some in rising order, at or after this one. */
export function lowerBound(numbers: readonly number[], value: number): number {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (numbers[middle]! < value) low = middle + 1
    else high = middle
  }
  return low
}
