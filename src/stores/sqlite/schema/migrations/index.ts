import type { Migration } from '../../../index.ts'
import { first } from './0005-first.ts'

/** Every migration, oldest first. Numbers 1 to 4 were schemas of unreleased versions; migrate.ts refuses them. */
export const MIGRATIONS: readonly Migration[] = [{ number: 5, name: 'first', sql: first, breaking: true }]
