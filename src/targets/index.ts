/** Where a fire goes. One file per kind; `target-kind.ts` defines what a new one must implement. */
export { type AddressClass, addressClass, hostClass, isAddress } from './address-class.ts'
export { defaultTarget } from './default.ts'
export { eventTarget } from './event.ts'
export type { Fire, Handler, HandlerOptions } from './fire.ts'
export { HandlerTarget } from './handler.ts'
export { type Inboxes, inboxTarget } from './inbox.ts'
export { assertPool, BUILT_IN_POOL, DEFAULT_POOL } from './pools.ts'
export {
  type Delivery,
  DeliveryFailure,
  type DeliveryReceipt,
  type Dispatcher,
  Postponed,
  type TargetKind,
} from './target-kind.ts'
export { Targets } from './targets.ts'
export { type WebhookSettings, WebhookTarget } from './webhook.ts'
export {
  type Sealer,
  type SigningKey,
  type SigningKeys,
  type Transport,
  TransportFailure,
  type WebhookAnswer,
  type WebhookRequest,
} from './webhook-ports.ts'
export { forbiddenText } from './webhook-spec.ts'
