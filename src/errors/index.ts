import { CORE_REASONS } from './core.ts'
import { loadReasons, type Reason } from './reason.ts'
import { ALARM_REASONS } from './reasons/alarms.ts'
import { HOST_REASONS, STORE_REASONS } from './reasons/operations.ts'
import { ACCESS_REASONS, QUOTA_REASONS, REQUEST_REASONS } from './reasons/requests.ts'
import { CALENDAR_REASONS, PHRASE_REASONS, TIME_REASONS } from './reasons/time.ts'

export {
  commanderText,
  cronerText,
  hasNoAddress,
  isPgConnectionText,
  mcpIssues,
  pgHandshakeProblem,
} from './foreign-text.ts'
export { ERROR_CODES, type ErrorCode, isErrorCode, type Param, type Params, reasonOf } from './reason.ts'
export { display, errorText, inField, unknownField, WakefulError } from './wakeful-error.ts'
export { fromWire, toWire, type WireError } from './wire.ts'
export { INTERFACES, type Interface, libraryField, render, wireField } from './words.ts'

/** Every reason for which a call is refused, by its stable id. */
export const REASONS = loadReasons({
  ...CORE_REASONS,
  ...ALARM_REASONS,
  ...TIME_REASONS,
  ...CALENDAR_REASONS,
  ...PHRASE_REASONS,
  ...REQUEST_REASONS,
  ...ACCESS_REASONS,
  ...QUOTA_REASONS,
  ...STORE_REASONS,
  ...HOST_REASONS,
})

/** The stable id of a reason. */
export type ReasonId = keyof typeof REASONS

/** The parameters of a reason. */
export type ParamsOf<R extends ReasonId> = (typeof REASONS)[R] extends Reason<infer P> ? P : never
