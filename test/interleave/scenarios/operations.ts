import {
  amend,
  type Change,
  type Context,
  cancel,
  fireNow,
  pause,
  recomputeInstants,
  replace,
  report,
  resume,
  type Snapshot,
  skipNext,
} from '../../../src/alarm/index.ts'
import type { InFlightSet } from '../../../src/engine/in-flight-set.ts'
import { ANN } from '../../../src/stores/conformance/harness.ts'
import type { ClaimedTimer, Lease } from '../../../src/stores/index.ts'
import type { PostgresStore } from '../../../src/stores/postgres/store.ts'
import type { Process } from '../process.ts'
import type { World } from '../world.ts'

/** The state of the alarm that an operation acts on. */
export type AlarmState = 'due' | 'inFlight' | 'awaiting' | 'ended' | 'new'

/** The fixture of the pairs: an alarm in each state, and the lease holder's state. */
export interface Fixture {
  readonly world: World
  readonly leases: readonly Lease[]
  readonly claimedTimers: readonly ClaimedTimer[]
  readonly inFlight: InFlightSet
  readonly ids: Readonly<Record<Exclude<AlarmState, 'new'>, string>>
}

/** The alarm of an operation, by id or by key. */
export interface Target {
  readonly fixture: Fixture
  readonly id: string
  readonly key: string
}

/** One operation. */
export interface Operation {
  readonly name: string
  /** The actor: the lease holder, a process that takes over, or a user. */
  readonly by: 'holder' | 'successor' | 'user'
  /** The only state in which it is meaningful. If absent, it uses the state of the other operation. */
  readonly state?: AlarmState
  /** Prepares the alarm. */
  readonly prepare?: (process: Process, id: string) => Promise<void>
  readonly act: (process: Process, target: Target) => Promise<unknown>
}

type Decide = (found: Snapshot, context: Context) => Change

function edit(name: string, decide: Decide, state?: AlarmState): Operation {
  const act: Operation['act'] = (process, { id }) => process.edit(name, id, decide)
  return { name, by: 'user', act, ...(state !== undefined && { state }) }
}

const LATER = { delay: '30m' } as const

const OWNERS: readonly Operation[] = [
  {
    name: 'claim',
    by: 'holder',
    state: 'due',
    act: (one, { fixture }) => one.claim(fixture.leases, fixture.inFlight),
  },
  ...(['delivered', 'failed', 'released'] as const).map(
    (outcome): Operation => ({
      name: `settle (${outcome})`,
      by: 'holder',
      state: 'inFlight',
      act: (one, { fixture }) => one.settle(fixture.claimedTimers, outcome, fixture.inFlight),
    }),
  ),
  {
    name: 'transact',
    by: 'holder',
    state: 'inFlight',
    act: (one, { fixture }) => one.transact(fixture.claimedTimers[0]!),
  },
  { name: 'heartbeat', by: 'holder', act: (one) => one.acquire() },
  {
    name: 'release leases',
    by: 'holder',
    state: 'inFlight',
    act: (one, { fixture }) => one.release(fixture.leases),
  },
  {
    name: 'takeover',
    by: 'successor',
    state: 'inFlight',
    act: async (successor) => {
      const leases = await successor.acquire()
      if (leases.length > 0) await successor.claim(leases)
    },
  },
]

const USERS: readonly Operation[] = [
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
  edit('skip next', skipNext, 'inFlight'),
  edit('report', (found, context) => report(found, { ok: true, text: 'done' }, context), 'awaiting'),
  {
    name: 'set in a user’s transaction',
    by: 'user',
    act: async (two, { fixture, key }) =>
      two.setInTransaction(await fixture.world.userConnection(two.name), LATER, { key }),
  },
  {
    name: 'cancel in a user’s transaction',
    by: 'user',
    act: async (two, { fixture, id }) =>
      two.cancelInTransaction(await fixture.world.userConnection(two.name), id, cancel),
  },
  {
    name: 'prune',
    by: 'user',
    state: 'ended',
    act: (two, { fixture }) => two.does('prune', () => two.store.prune(fixture.world.clock.now(), 10)),
  },
  {
    name: 'import',
    by: 'user',
    state: 'new',
    act: (two, { key }) => {
      const { alarm, timer } = two.bench.request(LATER, { key })
      const line = { alarm, timers: [timer], outcome: null }
      const store = two.store as PostgresStore
      return two.does('import', () => store.import([line], two.bench.context()))
    },
  },
  {
    name: 'recompute',
    by: 'user',
    act: (two) => {
      const context = two.bench.context()
      const which = { calendarsOf: ANN.tenant, after: 0, limit: 100 }
      return two.does('recompute', () =>
        two.store.recomputeInstants(which, (found) => recomputeInstants(found, context), context),
      )
    },
  },
]

/** All operations on alarms and leases. */
export const OPERATIONS: readonly Operation[] = [...OWNERS, ...USERS]
