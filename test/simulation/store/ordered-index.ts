import { LAST_SERIAL, type Serial } from '../../../src/alarm/index.ts'

/** A row's position in an index. */
export interface Place<A extends Serial> {
  readonly at: A
  readonly key: Serial
}

/** The rows of a table in groups, each ordered by a number and then by key. */
export class OrderedIndex<R, A extends Serial = Serial> {
  readonly #groupOf: (row: R) => string | Serial | null
  readonly #orderOf: (row: R) => A
  readonly #groups = new Map<string | Serial, Place<A>[]>()

  /** Rows whose group is null are left out. */
  constructor(groupOf: (row: R) => string | Serial | null, orderOf: (row: R) => A) {
    this.#groupOf = groupOf
    this.#orderOf = orderOf
  }

  /** The entries of a group, in order. */
  in(group: string | Serial): readonly Place<A>[] {
    return this.#groups.get(group) ?? NONE
  }

  /** How many entries of a group come before this one, or are it. */
  upTo(group: string | Serial, at: A, key: Serial = LAST_SERIAL): number {
    return search(this.in(group), { at, key })
  }

  add(key: Serial, row: R): void {
    const group = this.#groupOf(row)
    if (group === null) return
    const place = { at: this.#orderOf(row), key }
    const places = this.#groups.get(group)
    if (places === undefined) this.#groups.set(group, [place])
    else places.splice(search(places, place), 0, place)
  }

  remove(key: Serial, row: R): void {
    const group = this.#groupOf(row)
    if (group === null) return
    const places = this.#groups.get(group)!
    places.splice(search(places, { at: this.#orderOf(row), key }) - 1, 1)
    if (places.length === 0) this.#groups.delete(group)
  }
}

const NONE: readonly never[] = []

/** How many entries come before this one, or are it. */
function search(places: readonly Place<Serial>[], place: Place<Serial>): number {
  let [low, high] = [0, places.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const { at, key } = places[middle]!
    if (at < place.at || (at === place.at && key <= place.key)) low = middle + 1
    else high = middle
  }
  return low
}
