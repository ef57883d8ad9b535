/** What goes over the wire, written down once: the calls, their shapes, and how the library's words become them. */
export { editOf, movedTo, optionsOf, requiredWhen, setOf, VERBATIM_MEMBERS, whenOf } from './alarm-body.ts'
export { ACTIONS } from './alarms.ts'
export { subscribeArgs } from './live.ts'
export type { Input, Operation, Rights } from './operation.ts'
export { type OperationName, operations } from './operations.ts'
export { eventWire, oneLineJson, wireRule, wireText, withFields } from './wire-text.ts'
