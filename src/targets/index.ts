/** Where a fire goes. `targets.ts` defines what a kind of target must implement. */
export * from './address-class.ts'
export * from './built-in.ts'
export { type Fire, type Handler, type HandlerOptions, HandlerTarget } from './handler.ts'
export * from './targets.ts'
export {
  type Sealer,
  type SigningKey,
  type SigningKeys,
  type Transport,
  type WebhookAnswer,
  type WebhookRequest,
  type WebhookSettings,
  WebhookTarget,
} from './webhook.ts'
