export { Ownership, type ShardRow } from './ownership.ts'
export { readShards } from './shards.ts'
