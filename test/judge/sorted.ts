/** How many of these ascending numbers are at most `value`. */
export function countUpTo(ascending: readonly number[], value: number): number {
  let [low, high] = [0, ascending.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ascending[middle]! <= value) low = middle + 1
    else high = middle
  }
  return low
}

/** Whether these ascending numbers contain `value`. */
export function isAmong(ascending: readonly number[], value: number): boolean {
  return ascending[countUpTo(ascending, value) - 1] === value
}

/** A time span, both ends included. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** Finds the spans that overlap another, without scanning all of them. */
export class Spans<T extends Span> {
  readonly #spans: readonly T[]
  readonly #froms: readonly number[]
  /** The latest end up to each span. */
  readonly #ends: readonly number[]

  constructor(spans: readonly T[]) {
    this.#spans = [...spans].sort((a, b) => a.from - b.from)
    this.#froms = this.#spans.map(({ from }) => from)
    let end = Number.NEGATIVE_INFINITY
    this.#ends = this.#spans.map(({ to }) => {
      end = Math.max(end, to)
      return end
    })
  }

  /** Whether any overlapping span satisfies `fits`. */
  some(from: number, to: number, fits: (span: T) => boolean = () => true): boolean {
    for (let i = countUpTo(this.#froms, to) - 1; i >= 0 && this.#ends[i]! >= from; i--)
      if (this.#spans[i]!.to >= from && fits(this.#spans[i]!)) return true
    return false
  }
}
