import type { Migration } from '../../../index.ts'
import { first } from './0001-first.ts'
import { daysOff } from './0002-days-off.ts'
import { leanerIndexes } from './0003-leaner-indexes.ts'
import { service } from './0004-service.ts'

/** Every migration, oldest first. */
export const MIGRATIONS: readonly Migration[] = [
  { number: 1, name: 'first', sql: first, breaking: true },
  // Breaking: a binary that does not know days off would take a rule that names them for damaged.
  { number: 2, name: 'days-off', sql: daysOff, breaking: true },
  { number: 3, name: 'leaner-indexes', sql: leanerIndexes, breaking: false },
  // An older version goes on beside it: it neither reads nor writes what this adds.
  { number: 4, name: 'service', sql: service, breaking: false },
]
