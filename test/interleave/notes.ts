import type { CancelOutcome, Snapshot } from '../../src/alarm/index.ts'
import type { Claimed, Lease, SetResult, Settlement, SettleResult } from '../../src/stores/index.ts'

/** What an actor was answered, at which step of the schedule, and at which moment of the stepped clock. */
export type Note = { readonly at: number; readonly monotonic: number; readonly process: string } & (
  | { readonly kind: 'own'; readonly owner: string; readonly leases: readonly Lease[] }
  | { readonly kind: 'disown'; readonly leases: readonly Lease[] }
  | { readonly kind: 'take'; readonly taken: Claimed }
  | { readonly kind: 'settle'; readonly settlements: readonly Settlement[]; readonly settled: SettleResult }
  | { readonly kind: 'cancel'; readonly alarmId: string; readonly outcome: CancelOutcome | undefined }
  | { readonly kind: 'set'; readonly answer: SetResult }
  | { readonly kind: 'edit'; readonly what: string; readonly found: boolean }
  | { readonly kind: 'failed'; readonly what: string; readonly code: string; readonly message: string }
)

/** A note before it is placed. */
export type NewNote = Note extends infer N
  ? N extends Note
    ? Omit<N, 'at' | 'monotonic' | 'process'>
    : never
  : never

/** One line of a story about what an actor was answered. */
export function told(note: Note): string {
  switch (note.kind) {
    case 'own':
      return `own (${note.owner}): ${note.leases.map(({ shard, epoch }) => `shard ${shard} epoch ${epoch}`).join(', ') || 'nothing'}`
    case 'disown':
      return 'disown: done'
    case 'take':
      return `take: ${takenText(note.taken)}`
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

function takenText({ timers: takings, lost, nextWakeAt }: Claimed): string {
  const each = takings.map(
    ({ timer }) => `timer ${timer.id} version ${timer.version} attempt ${timer.attempt}`,
  )
  const rest = [...(lost.length > 0 ? [`${lost.length} lost`] : []), `next ${nextWakeAt ?? 'none'}`]
  return [each.join(', ') || 'nothing', ...rest].join('; ')
}
