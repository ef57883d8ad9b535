import type { CancelOutcome, Snapshot } from '../../src/alarm/index.ts'
import type { Claimed, Lease, SetResult, Settlement, SettleResult } from '../../src/stores/index.ts'

/** The answer of a call, with the step of the schedule and the time by the stepped clock. */
export type Note = { readonly at: number; readonly monotonic: number; readonly process: string } & (
  | { readonly kind: 'acquire'; readonly owner: string; readonly leases: readonly Lease[] }
  | { readonly kind: 'release'; readonly leases: readonly Lease[] }
  | { readonly kind: 'claim'; readonly claimed: Claimed }
  | { readonly kind: 'settle'; readonly settlements: readonly Settlement[]; readonly settled: SettleResult }
  | { readonly kind: 'cancel'; readonly alarmId: string; readonly outcome: CancelOutcome | undefined }
  | { readonly kind: 'set'; readonly answer: SetResult }
  | { readonly kind: 'edit'; readonly what: string; readonly found: boolean }
  | { readonly kind: 'failed'; readonly what: string; readonly code: string; readonly message: string }
)

/** A note without its position. */
export type NewNote = Note extends infer N
  ? N extends Note
    ? Omit<N, 'at' | 'monotonic' | 'process'>
    : never
  : never

/** A line of the trace about an answer. */
export function describe(note: Note): string {
  switch (note.kind) {
    case 'acquire':
      return `acquire (${note.owner}): ${note.leases.map(({ shard, epoch }) => `shard ${shard} epoch ${epoch}`).join(', ') || 'nothing'}`
    case 'release':
      return 'release: done'
    case 'claim':
      return `claim: ${claimedText(note.claimed)}`
    case 'settle':
      return `settle: ${note.settled.lost.length} lost, ${note.settled.stale} stale of ${note.settlements.length}`
    case 'cancel':
      return `cancel: ${note.outcome ?? 'not found'}`
    case 'set':
      return `set: ${note.answer.outcome}, generation ${(note.answer.snapshot as Snapshot | undefined)?.alarm.generation ?? 'of nothing'}`
    case 'edit':
      return `${note.what}: ${note.found ? 'done' : 'not found'}`
    case 'failed':
      return `${note.what}: refused (${note.code}: ${note.message})`
  }
}

function claimedText({ timers: claimedTimers, lost, nextWakeAt }: Claimed): string {
  const each = claimedTimers.map(
    ({ timer }) => `timer ${timer.id} version ${timer.version} attempt ${timer.attempt}`,
  )
  const rest = [...(lost.length > 0 ? [`${lost.length} lost`] : []), `next ${nextWakeAt ?? 'none'}`]
  return [each.join(', ') || 'nothing', ...rest].join('; ')
}
