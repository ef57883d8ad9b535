import type { Planted } from './planted.ts'

const NEXT_WAKE_CACHE = 'stores/sharded/next-wake-cache.ts'

/** Bugs that make a lease holder miss a due timer, which is late until a heartbeat finds it. */
export const NEXT_WAKE_PLANTED: readonly Planted[] = [
  {
    bug: 'a scan moves the bound past a timer that was written during the scan',
    edits: [
      { file: NEXT_WAKE_CACHE, from: 'return missed <= position.wakeAt ? ', to: 'return missed < 0 ? ' },
    ],
    scenarios: [
      'two notified sets | heartbeat and claim of an idle lease holder',
      'heartbeat | notified set of another process | claim',
    ],
  },
  {
    bug: 'a timer written at the exact position of a bound is considered seen',
    edits: [
      { file: NEXT_WAKE_CACHE, from: 'wakeAt <= bound.wakeAt)', to: 'wakeAt < bound.wakeAt)' },
      { file: NEXT_WAKE_CACHE, from: 'missed <= position.wakeAt', to: 'missed < position.wakeAt' },
    ],
    scenarios: [
      'two sets of the same instant, committed in reverse order | two claims',
      'own set | claim | notified set of another process, the same instant',
    ],
  },
  {
    bug: 'a write whose answer is lost is not looked up',
    edits: [
      {
        file: 'stores/postgres/store.ts',
        from: 'if (batch !== undefined && isBroken(thrown)) this.#noteWrites(batch)',
        to: '',
      },
    ],
    scenarios: ['own set whose commit loses its answer | claim'],
  },
  {
    bug: 'a timer moved to another shard sends no notice',
    edits: [
      { file: 'stores/postgres/rows/write-batch.ts', from: 'this.#wakeInNewShard(timers, shard)', to: '' },
    ],
    scenarios: ['target moved to another pool | claim by its lease holder'],
  },
  {
    bug: 'cached bounds of a shard are trusted when it is reacquired',
    edits: [{ file: 'stores/sharded/shard-leases.ts', from: 'nextWakes.forget(shard)', to: '' }],
    scenarios: ['a shard is reacquired: set by the interim lease holder | claim by the former one'],
  },
  {
    bug: 'a process whose lease has ended sends no notice',
    edits: [
      {
        file: 'stores/sharded/shard-leases.ts',
        from: '(leases.get(shard)?.until ?? 0) > now',
        to: 'leases.has(shard)',
      },
    ],
    scenarios: ['set by a process whose lease has ended | takeover and claim'],
  },
]
