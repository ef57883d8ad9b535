import {
  amend,
  type Change,
  type Context,
  cancel,
  fireNow,
  pause,
  replace,
  report,
  resume,
  review,
  type Snapshot,
  skipNext,
} from '../../../src/alarm/index.ts'
import type { InFlightSet } from '../../../src/engine/in-flight-set.ts'
import { ANN } from '../../../src/stores/conformance/harness.ts'
import type { ClaimedTimer, Lease } from '../../../src/stores/index.ts'
import type { PostgresStore } from '../../../src/stores/postgres/store.ts'
import type { Process } from '../process.ts'
import type { World } from '../world.ts'

/** In which state an alarm is when a move meets it. */
export type Met = 'due' | 'flying' | 'awaiting' | 'ended' | 'new'

/** Where moves are made: an alarm in each state, and the owner's own things. */
export interface Yard {
  readonly world: World
  readonly leases: readonly Lease[]
  readonly takings: readonly ClaimedTimer[]
  readonly held: InFlightSet
  readonly ids: Readonly<Record<Exclude<Met, 'new'>, string>>
}

/** What a move is about: an alarm by its id, or by its key. */
export interface About {
  readonly yard: Yard
  readonly id: string
  readonly key: string
}

/** One thing that somebody does. */
export interface Move {
  readonly name: string
  /** Who does it: the owner of the clock, somebody who takes over, or a user. */
  readonly by: 'owner' | 'heir' | 'user'
  /** The only state in which it means something; else it goes where the other move goes. */
  readonly meets?: Met
  /** What is done to the alarm before. */
  readonly prepare?: (process: Process, id: string) => Promise<void>
  readonly act: (process: Process, about: About) => Promise<unknown>
}

type Decide = (found: Snapshot, context: Context) => Change

function edit(name: string, decide: Decide, meets?: Met): Move {
  const act: Move['act'] = (process, { id }) => process.edit(name, id, decide)
  return { name, by: 'user', act, ...(meets !== undefined && { meets }) }
}

const LATER = { delay: '30m' } as const

const OWNERS: readonly Move[] = [
  { name: 'take', by: 'owner', meets: 'due', act: (one, { yard }) => one.take(yard.leases, yard.held) },
  ...(['delivered', 'failed', 'released'] as const).map(
    (came): Move => ({
      name: `settle (${came})`,
      by: 'owner',
      meets: 'flying',
      act: (one, { yard }) => one.settle(yard.takings, came, yard.held),
    }),
  ),
  {
    name: 'transact',
    by: 'owner',
    meets: 'flying',
    act: (one, { yard }) => one.transact(yard.takings[0]!),
  },
  { name: 'beat', by: 'owner', act: (one) => one.own() },
  { name: 'disown', by: 'owner', meets: 'flying', act: (one, { yard }) => one.disown(yard.leases) },
  {
    name: 'takeover',
    by: 'heir',
    meets: 'flying',
    act: async (heir) => {
      const leases = await heir.own()
      if (leases.length > 0) await heir.take(leases)
    },
  },
]

const USERS: readonly Move[] = [
  { name: 'cancel', by: 'user', act: (two, { id }) => two.cancel(id) },
  { name: 'upsert', by: 'user', act: (two, { key }) => two.set(LATER, { key }) },
  {
    name: 'reschedule',
    by: 'user',
    act: (two, { id }) => {
      const { alarm, timer } = two.bench.request(LATER)
      const at = { first: timer.scheduledFor, nominal: timer.scheduledFor }
      return two.edit('reschedule', id, (found, context) =>
        replace(found, { alarm: { ...alarm, key: found.alarm.key }, ...at }, 'reschedule', context),
      )
    },
  },
  edit('amend', (found, context) => amend(found, { maxFailures: 2 }, context)),
  edit('pause', pause),
  { ...edit('resume', resume), prepare: (two, id) => two.edit('pause', id, pause) },
  edit('fire now', fireNow),
  edit('skip next', skipNext, 'flying'),
  edit('report', (found, context) => report(found, { ok: true, text: 'done' }, context), 'awaiting'),
  {
    name: 'set in a user’s transaction',
    by: 'user',
    act: async (two, { yard, key }) => two.setAsGuest(await yard.world.guest(two.name), LATER, { key }),
  },
  {
    name: 'cancel in a user’s transaction',
    by: 'user',
    act: async (two, { yard, id }) => two.cancelAsGuest(await yard.world.guest(two.name), id, cancel),
  },
  {
    name: 'prune',
    by: 'user',
    meets: 'ended',
    act: (two, { yard }) => two.does('prune', () => two.store.prune(yard.world.clock.now(), 10)),
  },
  {
    name: 'import',
    by: 'user',
    meets: 'new',
    act: (two, { key }) => {
      const { alarm, timer } = two.bench.request(LATER, { key })
      const line = { alarm, timers: [timer], outcome: null }
      const store = two.store as PostgresStore
      return two.does('import', () => store.import([line], two.bench.context()))
    },
  },
  {
    name: 'review',
    by: 'user',
    act: (two) => {
      const context = two.bench.context()
      const which = { calendarsOf: ANN.tenant, after: 0, limit: 100 }
      return two.does('review', () => two.store.review(which, (found) => review(found, context), context))
    },
  },
]

/** Everything that anybody does to alarms and clocks. */
export const MOVES: readonly Move[] = [...OWNERS, ...USERS]
