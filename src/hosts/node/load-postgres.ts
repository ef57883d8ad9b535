import { WakefulError } from '../../error.ts'

/** Loads the PostgreSQL store and `pg` on demand, because most users need neither. */
export async function loadPostgres() {
  try {
    return await import('../../stores/postgres/index.ts')
  } catch (cause) {
    if (!isMissing(cause)) throw cause
    throw new WakefulError('store.driver_missing', {}, { cause })
  }
}

function isMissing(thrown: unknown): boolean {
  const { code, message = '' } = thrown as { code?: string; message?: string }
  return code === 'ERR_MODULE_NOT_FOUND' && message.includes("'pg'")
}
