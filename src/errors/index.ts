import type { Params, Reason } from './reason.ts'
import { ALARM_REASONS } from './reasons/alarms.ts'
import { FIELD_REASONS } from './reasons/fields.ts'
import { HOST_REASONS, STORE_REASONS } from './reasons/operations.ts'
import { ACCESS_REASONS, CLIENT_REASONS, QUOTA_REASONS, REQUEST_REASONS } from './reasons/requests.ts'
import { CALENDAR_REASONS, PHRASE_REASONS, TIME_REASONS } from './reasons/time.ts'
import { type Interface, wordsOf } from './words.ts'

export { closest } from './closest.ts'
export {
  commanderText,
  cronerText,
  hasNoAddress,
  isPgConnectionText,
  mcpIssues,
  pgHandshakeProblem,
} from './foreign-text.ts'
export { ERROR_CODES, type ErrorCode, isErrorCode, type Param, type Params } from './reason.ts'
export { fromWire, toWire, type WireError } from './wire.ts'
export { INTERFACES, type Interface, libraryField, wireField } from './words.ts'

/** Every reason for which a call is refused, by its stable id. */
export const REASONS = {
  ...FIELD_REASONS,
  ...ALARM_REASONS,
  ...TIME_REASONS,
  ...CALENDAR_REASONS,
  ...PHRASE_REASONS,
  ...REQUEST_REASONS,
  ...ACCESS_REASONS,
  ...QUOTA_REASONS,
  ...CLIENT_REASONS,
  ...STORE_REASONS,
  ...HOST_REASONS,
}

/** The stable id of a reason. */
export type ReasonId = keyof typeof REASONS

/** The parameters of a reason. */
export type ParamsOf<R extends ReasonId> = (typeof REASONS)[R] extends Reason<infer P> ? P : never

/** An error as data: what goes over the wire, and what every interface renders its words from. */
export interface ErrorData {
  readonly reason: string
  readonly params: Params
  readonly message: string
  readonly field?: string | undefined
  /** Several errors at once, or the one that this adds to. */
  readonly errors?: readonly ErrorData[] | undefined
}

/** The code and the words of a reason; undefined for one of another version. */
export function reasonOf(id: string): Reason | undefined {
  return Object.hasOwn(REASONS, id) ? (REASONS[id as ReasonId] as unknown as Reason) : undefined
}

/** The words of an error in an interface. A field that the words do not name stands in front of them. */
export function render(error: ErrorData, where: Interface): string {
  const reason = reasonOf(error.reason)
  if (reason === undefined) return error.message
  let isNamed = error.field === undefined
  const words = wordsOf(where, error.field, () => {
    isNamed = true
  })
  const own = reason.text(error.params, words)
  const text = [...(error.errors ?? []).map((each) => render(each, where)), own]
    .filter((each) => each !== '')
    .join(' ')
  return isNamed ? text : `${words.it}: ${text}`
}
