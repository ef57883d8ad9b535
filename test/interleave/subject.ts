import type * as Alarms from '../../src/alarm/index.ts'
import type { InFlightSet } from '../../src/engine/in-flight-set.ts'
import type { Harness } from '../../src/stores/conformance/harness.ts'
import type { Database } from '../../src/stores/postgres/connection/database.ts'
import type { migrate } from '../../src/stores/postgres/schema/migrate.ts'
import type { PostgresStore } from '../../src/stores/postgres/store.ts'
import { learnNames } from './statement-name.ts'

/** The code under test: the sources, or a variant with a planted bug. */
export interface Subject {
  readonly Database: typeof Database
  readonly PostgresStore: typeof PostgresStore
  readonly migrate: typeof migrate
  readonly Harness: typeof Harness
  readonly InFlightSet: typeof InFlightSet
  /** The alarm rules. */
  readonly alarm: typeof Alarms
}

/** Loads the sources, or the variant that the loader of `variants.ts` makes of them. */
export async function loadSubject(variant = ''): Promise<Subject> {
  const load = (path: string): Promise<unknown> => {
    return import(/* @vite-ignore */ new URL(`../../src/${path}${variant}`, import.meta.url).href)
  }
  const [queries, pruning, waiting, database, store, migrations, bench, inFlight, alarm] = await Promise.all([
    load('stores/postgres/sql/queries.ts'),
    load('stores/postgres/reads/prune.ts'),
    load('stores/postgres/claims/waiting.ts'),
    load('stores/postgres/connection/database.ts'),
    load('stores/postgres/store.ts'),
    load('stores/postgres/schema/migrate.ts'),
    load('stores/conformance/harness.ts'),
    load('engine/in-flight-set.ts'),
    load('alarm/index.ts'),
  ])
  learnNames(queries as object)
  learnNames((pruning as { PRUNE_QUERIES: object }).PRUNE_QUERIES)
  learnNames((waiting as { WAITING_QUERIES: object }).WAITING_QUERIES)
  return Object.assign({ alarm }, database, store, migrations, bench, inFlight) as unknown as Subject
}
