/** The protocol by which several processes share the shards of one database. */

export * from './claims.ts'
export * from './heartbeat.ts'
export * from './listener.ts'
export * from './next-wake-cache.ts'
export * from './notices.ts'
export * from './protocol.ts'
export * from './shard-leases.ts'
export * from './store.ts'
