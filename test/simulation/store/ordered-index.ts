/** A row's place in an index. */
export interface Place {
  readonly at: number
  readonly key: number
}

/** The rows of a table in groups, each in the order of a number, and of their keys where it is the same. */
export class OrderedIndex<R> {
  readonly #groupOf: (row: R) => string | number | null
  readonly #orderOf: (row: R) => number
  readonly #groups = new Map<string | number, Place[]>()

  /** Rows whose group is null are left out. */
  constructor(groupOf: (row: R) => string | number | null, orderOf: (row: R) => number) {
    this.#groupOf = groupOf
    this.#orderOf = orderOf
  }

  /** The places of a group, in order. */
  in(group: string | number): readonly Place[] {
    return this.#groups.get(group) ?? NONE
  }

  /** How many places of a group come before this one, or are it. */
  upTo(group: string | number, at: number, key = Number.POSITIVE_INFINITY): number {
    return search(this.in(group), { at, key })
  }

  add(key: number, row: R): void {
    const group = this.#groupOf(row)
    if (group === null) return
    const place = { at: this.#orderOf(row), key }
    const places = this.#groups.get(group)
    if (places === undefined) this.#groups.set(group, [place])
    else places.splice(search(places, place), 0, place)
  }

  remove(key: number, row: R): void {
    const group = this.#groupOf(row)
    if (group === null) return
    const places = this.#groups.get(group)!
    places.splice(search(places, { at: this.#orderOf(row), key }) - 1, 1)
    if (places.length === 0) this.#groups.delete(group)
  }
}

const NONE: readonly Place[] = []

/** How many places come before this one, or are it. */
function search(places: readonly Place[], place: Place): number {
  let [low, high] = [0, places.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const { at, key } = places[middle]!
    if (at < place.at || (at === place.at && key <= place.key)) low = middle + 1
    else high = middle
  }
  return low
}
