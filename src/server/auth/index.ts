/** Who calls and what they may do: keys, tickets, secret addresses of calendars, and callers on this machine. */
export {
  Authenticator,
  assertMay,
  type Caller,
  includes,
  isLoopback,
  isOwnOrigin,
  ownerName,
  PROXIED,
} from './authenticator.ts'
export { CalendarFeeds } from './calendar-feeds.ts'
export { ALL_TENANTS, hashOf, type KeyInput, KeyRegistry, type KeyView } from './key-registry.ts'
export { TicketStore } from './ticket-store.ts'
