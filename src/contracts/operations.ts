import { keyOperations } from './admin.ts'
import { alarmOperations } from './alarms.ts'
import { inboxOperations, ownerOperations } from './inbox.ts'
import { readOperations } from './reads.ts'

/** Every call of the API, by its name. */
export const operations = {
  ...alarmOperations,
  ...readOperations,
  ...inboxOperations,
  ...ownerOperations,
  ...keyOperations,
}

/** The name of a call. */
export type OperationName = keyof typeof operations
