/**
 * What was computed from texts, by group and key, in two generations. A hit in the recent generation writes nothing, which
 * keeps it fast; when that generation is full, it replaces the older one. Group and key are not joined into one text,
 * because that costs more than the lookup.
 */
export class Cache<Key, Value> {
  readonly #sizeMax: number
  readonly #sizeOf: (value: Value) => number
  #recent = new Map<string, Map<Key, Value>>()
  #older = this.#recent
  #size = 0

  constructor(sizeMax: number, sizeOf: (value: Value) => number = () => 1) {
    this.#sizeMax = sizeMax
    this.#sizeOf = sizeOf
  }

  /** The value of this group and key, computed if it is not known. */
  get(group: string, key: Key, compute: () => Value): Value {
    const found = this.#recent.get(group)?.get(key)
    if (found !== undefined) return found
    const value = this.#older.get(group)?.get(key) ?? compute()
    if (this.#size >= this.#sizeMax) {
      this.#older = this.#recent
      this.#recent = new Map()
      this.#size = 0
    }
    const known = this.#recent.get(group) ?? new Map<Key, Value>()
    this.#recent.set(group, known.set(key, value))
    this.#size += this.#sizeOf(value)
    return value
  }
}
