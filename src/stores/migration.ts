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

/** The result of applying migrations to a schema of this version. */
export function migratedBy(applied: readonly Migration[], from: number): Migrated {
  return { from, to: applied.at(-1)?.number ?? from, applied: applied.map(({ name }) => name) }
}

/**
 * The last commit before the first released schema. It opens the stores of every unreleased schema, 1 to 4, and its exports
 * can be imported. Those of the versions that made schemas 1 to 3 cannot: their format is older.
 */
const LAST_UNRELEASED = '74b82111b6fe'

/** Whether an unreleased version made the schema: it is older than the first migration. 0 is an empty database. */
function isTooOld(version: number, migrations: readonly Migration[]): boolean {
  return version > 0 && version < migrations[0]!.number
}

/** What to do about a schema that is older than the newest migration. */
export function outdatedAdvice(version: number, migrations: readonly Migration[]): string {
  return isTooOld(version, migrations)
    ? `export it with commit ${LAST_UNRELEASED} (\`npm ci\`, then \`npm run wakeful -- export --db … --out alarms.jsonl\`), and run \`wakeful import alarms.jsonl\` with this version on a new store`
    : 'run `wakeful migrate`'
}

/** Refuses a store that an unreleased version made: no migration leads from its tables to these. */
export function assertNotTooOld(place: string, version: number, migrations: readonly Migration[]): void {
  if (!isTooOld(version, migrations)) return
  throw new WakefulError('store.unreleased_schema', {
    place,
    version,
    min: migrations[0]!.number,
    commit: LAST_UNRELEASED,
  })
}
