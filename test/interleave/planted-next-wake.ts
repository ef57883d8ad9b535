import type { Planted } from './planted.ts'

const LOOKOUT = 'stores/sharded/next-wake-cache.ts'

/** Bugs by which an owner believes that nothing waits where something does, so that it is late until a beat finds it. */
export const LOOKOUT_PLANTED: readonly Planted[] = [
  {
    bug: 'a look raises its place past what was written during it',
    hazard: 11,
    edits: [{ file: LOOKOUT, from: 'return missed <= position.wakeAt ? ', to: 'return missed < 0 ? ' }],
    scenarios: ['two sets told to one that rests | beat and take', 'beat | set told by another | take'],
  },
  {
    bug: 'what is written at the very instant of a place is taken for seen',
    hazard: 11,
    edits: [
      { file: LOOKOUT, from: 'wakeAt <= bound.wakeAt)', to: 'wakeAt < bound.wakeAt)' },
      { file: LOOKOUT, from: 'missed <= position.wakeAt', to: 'missed < position.wakeAt' },
    ],
    scenarios: [
      'two sets of the same instant, numbered one way and committed the other | take twice',
      'set of the owner itself | take | set told by another, the same instant',
    ],
  },
  {
    bug: 'a write whose answer is lost is not looked for',
    hazard: 7,
    edits: [
      {
        file: 'stores/postgres/rows/write-batch.ts',
        from: 'if (last !== undefined && isBroken(thrown)) note(last)',
        to: '',
      },
    ],
    scenarios: ['set of the owner itself whose commit loses its answer | take'],
  },
  {
    bug: 'nobody is told that a timer was moved to another shard',
    hazard: 9,
    edits: [
      { file: 'stores/postgres/rows/row-writes.ts', from: 'this.#wakeElsewhere(timers, shard)', to: '' },
    ],
    scenarios: ['target moved to another pool | take of its owner'],
  },
  {
    bug: 'what was known of a shard is believed when it comes back',
    hazard: 11,
    edits: [{ file: 'stores/sharded/shard-leases.ts', from: 'nextWakes.lower(shard, 0)', to: '' }],
    scenarios: ['a shard comes back: set of its owner of meanwhile | take of the one before'],
  },
  {
    bug: 'an owner whose lease has ended tells nobody',
    hazard: 9,
    edits: [
      {
        file: 'stores/sharded/shard-leases.ts',
        from: '(leases.get(shard)?.until ?? 0) > now',
        to: 'leases.has(shard)',
      },
    ],
    scenarios: ['set of an owner whose lease has ended | takeover and take'],
  },
]
