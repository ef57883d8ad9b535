import type { Serial } from '../../../src/alarm/index.ts'
import type { Journal } from './journal.ts'

/** Checked before a row is changed: whether another transaction has locked it. */
export type AssertFree = (table: string, key: string | Serial) => void

/** An index that follows a table's rows. */
export interface Index<K, R> {
  add(key: K, row: R): void
  remove(key: K, row: R): void
}

/** Rows by key. A row is never changed in place, but replaced. */
export class Table<K extends string | Serial, R> {
  readonly #name: string
  readonly #journal: Journal
  readonly #assertFree: AssertFree
  readonly #indexes: readonly Index<K, R>[]
  readonly #rows = new Map<K, R>()

  constructor(
    name: string,
    around: { journal: Journal; assertFree: AssertFree },
    indexes: readonly Index<K, R>[] = [],
  ) {
    this.#name = name
    this.#journal = around.journal
    this.#assertFree = around.assertFree
    this.#indexes = indexes
  }

  get(key: K): R | undefined {
    return this.#rows.get(key)
  }

  values(): R[] {
    return [...this.#rows.values()]
  }

  entries(): [K, R][] {
    return [...this.#rows]
  }

  put(key: K, row: R): void {
    this.#write(key, row)
  }

  /** Returns whether the row existed. */
  remove(key: K): boolean {
    if (!this.#rows.has(key)) return false
    this.#write(key, undefined)
    return true
  }

  #write(key: K, after: R | undefined): void {
    this.#assertFree(this.#name, key)
    const before = this.#rows.get(key)
    this.#place(key, after)
    this.#journal.note({
      table: this.#name,
      key,
      undo: () => this.#place(key, before),
      redo: () => this.#place(key, after),
    })
  }

  #place(key: K, row: R | undefined): void {
    const before = this.#rows.get(key)
    if (before !== undefined) for (const index of this.#indexes) index.remove(key, before)
    if (row === undefined) {
      this.#rows.delete(key)
      return
    }
    this.#rows.set(key, row)
    for (const index of this.#indexes) index.add(key, row)
  }
}

/** Rows by a unique name. */
export class NameIndex<K, R> implements Index<K, R> {
  readonly #nameOf: (row: R) => string | null
  readonly #keys = new Map<string, K>()

  constructor(nameOf: (row: R) => string | null) {
    this.#nameOf = nameOf
  }

  get(name: string): K | undefined {
    return this.#keys.get(name)
  }

  add(key: K, row: R): void {
    const name = this.#nameOf(row)
    if (name !== null) this.#keys.set(name, key)
  }

  remove(_: K, row: R): void {
    const name = this.#nameOf(row)
    if (name !== null) this.#keys.delete(name)
  }
}
