import type { Context } from '../../../src/alarm/index.ts'
import type { SimulatedDatabase } from './database.ts'
import type { Writes } from './writes.ts'

/** What a write needs: the database, the writes of this statement, and the caller's context. */
export interface WriteBatch {
  readonly database: SimulatedDatabase
  readonly writes: Writes
  readonly context: Context
}
