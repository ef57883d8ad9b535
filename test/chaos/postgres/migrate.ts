import { once } from 'node:events'
import { ask } from '../postgres-evidence.ts'
import { bystander } from './ownership.ts'

/** What many processes that open a fresh database at once leave there. */
export interface ConcurrentMigration {
  readonly failed: number
  readonly alarms: number
  /** How often each migration was applied, and the number of shards of each pool. */
  readonly migrations: readonly number[]
  readonly shards: readonly number[]
}

/** Lets several processes open an empty database at once. Each sets an alarm. */
export async function migrateConcurrently(url: string, processes: number): Promise<ConcurrentMigration> {
  const children = await Promise.allSettled(Array.from({ length: processes }, () => bystander(url, 'once')))
  let failed = 0
  for (const child of children) {
    if (child.status === 'rejected') failed += 1
    else if (child.value.exitCode === null) await once(child.value, 'exit')
  }
  const counts = async (sql: string) =>
    (await ask<{ count: string }>(url, sql)).map(({ count }) => Number(count))
  return {
    failed,
    alarms: (await counts('SELECT count(*) FROM wakeful.alarms'))[0]!,
    migrations: await counts('SELECT count(*) FROM wakeful.migrations GROUP BY number ORDER BY number'),
    shards: await counts('SELECT count(*) FROM wakeful.shards GROUP BY pool ORDER BY pool'),
  }
}
