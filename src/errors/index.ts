import type { ParamsIn } from './reason.ts'
import { ALARM_REASONS } from './reasons/alarms.ts'
import { CLI_REASONS } from './reasons/cli.ts'
import { CORE_REASONS } from './reasons/core.ts'
import { DAYS_OFF_REASONS } from './reasons/days-off.ts'
import { OPERATION_REASONS } from './reasons/operations.ts'
import { PHRASE_REASONS } from './reasons/phrases.ts'
import { REQUEST_REASONS } from './reasons/requests.ts'
import { RULE_REASONS } from './reasons/rules.ts'
import { TIME_REASONS } from './reasons/time.ts'

export * from './foreign-text.ts'
export { ERROR_CODES, type ErrorCode, isErrorCode, type Param, type Params, reasonOf } from './reason.ts'
export * from './wakeful-error.ts'
export * from './words.ts'

/** Every reason for which a call is refused, by its stable id. */
export const REASONS = {
  ...CORE_REASONS,
  ...ALARM_REASONS,
  ...TIME_REASONS,
  ...PHRASE_REASONS,
  ...RULE_REASONS,
  ...DAYS_OFF_REASONS,
  ...REQUEST_REASONS,
  ...OPERATION_REASONS,
  ...CLI_REASONS,
} as const

/** The stable id of a reason. */
export type ReasonId = keyof typeof REASONS

/** The parameters of a reason. */
export type ParamsOf<R extends ReasonId> = ParamsIn<(typeof REASONS)[R]>
