/** The wire format, defined once: the calls, their schemas, and the conversion to and from the library. */

import { alarmOperations } from './alarms.ts'
import { operationsByKey } from './by-key.ts'
import { calendarOperations } from './calendars.ts'
import { eventOperations } from './events.ts'
import { inboxOperations, ownerOperations } from './inbox.ts'
import { operatorOperations } from './operators.ts'
import { calendarFeedOperations, readOperations } from './reads.ts'

export { eventWire, wireRule, wireText, withFields } from '../library/index.ts'
export {
  BODY_VERBATIM,
  editBodies,
  editing,
  editOf,
  MCP_VERBATIM,
  movesInstants,
  requiredWhen,
  SINGLE_KINDS,
  setOf,
  WS_VERBATIM,
} from './alarm-body.ts'
export { subscribeArgs } from './events.ts'
export { BYTES_MAX, DEFAULT_ZONE_TEXT, duration, judged, whole } from './fields.ts'
export type { Input, Operation, Rights } from './operation.ts'
export type { Quotas } from './operators.ts'
export { type ByKey, byKey, ONE_ALARM_CALLS, type OneAlarmCall, type OperationName } from './routes.ts'

/** Every call of the API, by its name. */
export const operations = {
  ...alarmOperations,
  // Before `why`, whose path would match that of an alarm with the key `why`.
  ...operationsByKey({ ...alarmOperations, ...readOperations }),
  ...readOperations,
  ...eventOperations,
  ...calendarFeedOperations,
  ...inboxOperations,
  ...ownerOperations,
  ...calendarOperations,
  ...operatorOperations,
}
