import type { TestProject } from 'vitest/node'
import { startPostgres } from './server.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The URL of the run's PostgreSQL, without a database. */
    readonly postgres: string
  }
}

/** One server for a whole test run. Each file creates its database on it (`database.ts`). */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres()
  provide('postgres', server.url(''))
  return () => server.stop()
}
