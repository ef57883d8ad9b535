import { WakefulError } from '../error.ts'

/** A step from one schema to the next. Forward only; the same number and name in every dialect. */
export interface Migration {
  readonly number: number
  readonly name: string
  readonly sql: string
  /** Whether versions that do not know it must refuse the database. */
  readonly breaking: boolean
}

/** What a migration did. */
export interface Migrated {
  readonly from: number
  readonly to: number
  readonly applied: readonly string[]
}

/** How to move a store that an unreleased version made. */
const MOVE_OLD_STORE =
  'run `wakeful export --out alarms.jsonl` with the version that made it, then `wakeful import alarms.jsonl` with this version into a new store'

/** Whether an unreleased version made the schema: it is older than the first migration. 0 is an empty database. */
function isTooOld(version: number, migrations: readonly Migration[]): boolean {
  return version > 0 && version < migrations[0]!.number
}

/** What to do about a schema that is older than the newest migration. */
export function outdatedAdvice(version: number, migrations: readonly Migration[]): string {
  return isTooOld(version, migrations) ? MOVE_OLD_STORE : 'run `wakeful migrate`'
}

/** Refuses a store that an unreleased version made: no migration leads from its tables to these. */
export function assertNotTooOld(place: string, version: number, migrations: readonly Migration[]): void {
  if (!isTooOld(version, migrations)) return
  throw new WakefulError('store.unreleased_schema', {
    place,
    version,
    min: migrations[0]!.number,
  })
}
