/** Who calls and what they may do: keys, tickets, secret addresses of calendars, and callers on this machine. */
export { hashOf } from './api-key.ts'
export { type AdminAct, type Audit, actOf } from './audit.ts'
export { Authenticator, assertMay, type Caller, includes, ownerName } from './authenticator.ts'
export { CalendarFeeds } from './calendar-feeds.ts'
export { ALL_TENANTS, type KeyInput, KeyRegistry, type KeyView } from './key-registry.ts'
export { TicketStore } from './ticket-store.ts'
