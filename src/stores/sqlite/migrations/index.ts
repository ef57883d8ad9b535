import { first } from './0001-first.ts'

/** A step from one schema to the next. Forward only; the same number and name in every dialect. */
export interface Migration {
  readonly number: number
  readonly name: string
  readonly sql: string
  /** Whether binaries that do not know it must refuse the database. */
  readonly breaking: boolean
}

/** Every migration, oldest first. */
export const MIGRATIONS: readonly Migration[] = [{ number: 1, name: 'first', sql: first, breaking: true }]
