import type { Client, Pool } from 'pg'
import { WakefulError } from '../../../error.ts'

/** What Wakeful uses of the package `pg`. */
export interface Driver {
  readonly Client: typeof Client
  readonly Pool: typeof Pool
}

/**
 * Loads `pg` when a database is opened, because it is an optional peer. Inside a `try`, bundlers accept that it is not
 * installed: they leave this import as it is.
 */
export async function loadDriver(): Promise<Driver> {
  try {
    return (await import('pg')).default
  } catch (cause) {
    const { code } = cause as { code?: unknown }
    // Node's codes of `import` and `require`.
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw cause
    throw new WakefulError('store.driver_missing', {}, { cause })
  }
}
