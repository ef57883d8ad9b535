import { alarmOperations } from './alarms.ts'
import { calendarOperations } from './calendar.ts'
import { inboxOperations, ownerOperations } from './inbox.ts'
import { keyOperations } from './keys.ts'
import { liveOperations } from './live.ts'
import { readOperations } from './reads.ts'
import { targetOperations } from './targets.ts'
import { tenantOperations } from './tenants.ts'

/** Every call of the API, by its name. */
export const operations = {
  ...alarmOperations,
  ...readOperations,
  ...liveOperations,
  ...calendarOperations,
  ...inboxOperations,
  ...ownerOperations,
  ...keyOperations,
  ...tenantOperations,
  ...targetOperations,
}

/** The name of a call. */
export type OperationName = keyof typeof operations
