import type { ReadScope } from '../alarm/index.ts'

/** How many events of each alarm retention keeps, however old they are, until the alarm has ended. */
export const EVENTS_KEPT = 100
/** Old events of one alarm that are deleted in one transaction. The rest goes when the alarm is met again. */
export const TRIMMED_MAX = 1_000

/** What one step of retention has deleted. */
export interface Pruned {
  /** Ended alarms, with their events. */
  readonly alarms: number
  /** Events of other alarms. */
  readonly events: number
  readonly wakes: number
  /** Whether there is more to delete now. */
  readonly more: boolean
}

/**
 * The name in `meta` of the newest event that retention has deleted of an owner. It has the length of the tenant's name, so
 * that no two owners share it; without an owner, it is how the names of the tenant's owners begin.
 */
export function prunedEventsMeta({ tenant, owner }: ReadScope): string {
  if (tenant === null) return 'gone '
  return `gone ${[...tenant].length} ${tenant}${owner ?? ''}`
}
