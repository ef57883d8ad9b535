/** Where a fire goes. `targets.ts` defines what a kind of target must implement. */
export { addressClass, hostClass } from './address-class.ts'
export * from './built-in.ts'
export { type Fire, type Handler, type HandlerOptions, HandlerTarget } from './handler.ts'
export {
  type Delivery,
  DeliveryFailure,
  type DeliveryReceipt,
  type Dispatcher,
  Postponed,
  type TargetKind,
  Targets,
} from './targets.ts'
export { webhookTarget } from './webhook.ts'
export type {
  Sealer,
  SigningKey,
  SigningKeys,
  Transport,
  WebhookAnswer,
  WebhookRequest,
  WebhookSettings,
} from './webhook-delivery.ts'
