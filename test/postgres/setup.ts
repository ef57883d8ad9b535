import type { TestProject } from 'vitest/node'
import { startPostgres } from './server.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The URL of the run's PostgreSQL, without a database. */
    readonly postgres: string
  }
}

/** One server for a whole run of the tests; each file makes a database of its own on it (`database.ts`). */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres()
  provide('postgres', server.url(''))
  return () => server.stop()
}
