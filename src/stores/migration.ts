/** A step from one schema to the next. Forward only; the same number and name in every dialect. */
export interface Migration {
  readonly number: number
  readonly name: string
  readonly sql: string
  /** Whether binaries that do not know it must refuse the database. */
  readonly breaking: boolean
}

/** What a migration came to. */
export interface Migrated {
  readonly from: number
  readonly to: number
  readonly applied: readonly string[]
}
