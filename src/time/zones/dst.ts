/**
 * What a clock change does to a wall time: one that does not exist shifts forward by the length of the gap or is
 * skipped; one that occurs twice counts the first time, the last time, or both.
 */
export interface DstPolicy {
  gap: 'shift' | 'skip'
  overlap: 'first' | 'last' | 'both'
}

/** The policy of rules that name none: as Temporal's `compatible`. */
export const DST_DEFAULT: DstPolicy = { gap: 'shift', overlap: 'first' }
