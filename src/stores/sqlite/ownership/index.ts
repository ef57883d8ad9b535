export { Ownership, readShards, type ShardRow } from './ownership.ts'
