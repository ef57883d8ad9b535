/** The wire format, defined once: the calls, their schemas, and the conversion to and from the library. */

export { eventWire, wireRule, wireText, withFields } from '../library/index.ts'
export {
  BODY_VERBATIM,
  editOf,
  MCP_VERBATIM,
  movedTo,
  optionsOf,
  requiredWhen,
  setOf,
  WS_VERBATIM,
} from './alarm-body.ts'
export { ACTIONS } from './alarms.ts'
export { DEFAULT_ZONE_TEXT, duration, expectation, plain } from './fields.ts'
export { subscribeArgs } from './live.ts'
export type { Input, Operation, Rights } from './operation.ts'
export { type OperationName, operations } from './operations.ts'
export type { Quotas } from './tenants.ts'
