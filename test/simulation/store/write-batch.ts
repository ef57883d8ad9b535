import type { Context } from '../../../src/alarm/index.ts'
import type { SimulatedDatabase } from './database.ts'
import type { Writes } from './writes.ts'

/** Where decisions become rows: the database, what is written in this statement, and the moment of its caller. */
export interface Desk {
  readonly database: SimulatedDatabase
  readonly writes: Writes
  readonly context: Context
}
