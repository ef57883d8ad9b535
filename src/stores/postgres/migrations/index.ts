import type { Migration } from '../../index.ts'
import { first } from './0001-first.ts'

/** Every migration, oldest first. */
export const MIGRATIONS: readonly Migration[] = [{ number: 1, name: 'first', sql: first, breaking: true }]
