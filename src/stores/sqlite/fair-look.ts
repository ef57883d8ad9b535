import type { Scope } from '../../alarm/index.ts'
import type { Lease, TakeRequest } from '../index.ts'
import { ALARM_COLUMNS, ownerKey, TIMER_COLUMNS, type Values } from '../index.ts'
import type { Session } from './session.ts'

const SEEN = TIMER_COLUMNS.map((column) => `t.${column}`).join(', ')
const ALARM = ALARM_COLUMNS.map((column) => `a.${column}`).join(', ')

/**
 * The statements of a look that goes owner by owner: none of them reads what a crowding tenant has due. The plus keeps
 * SQLite from going by the shard, through everything that is due there.
 */
export const FAIR_QUERIES = {
  nextOwner: `SELECT tenant, owner FROM wakeful_timers WHERE wake_at IS NOT NULL AND tenant = ? AND owner > ?
    ORDER BY owner LIMIT 1`,
  nextTenant: `SELECT tenant, owner FROM wakeful_timers WHERE wake_at IS NOT NULL AND tenant > ?
    ORDER BY tenant, owner LIMIT 1`,
  due: `SELECT ${SEEN}, a.seq, ${ALARM} FROM wakeful_timers t LEFT JOIN wakeful_alarms a ON a.seq = t.alarm
    WHERE t.tenant = ? AND t.owner = ? AND t.wake_at IS NOT NULL AND t.wake_at <= ? AND +t.shard = ?
    ORDER BY t.wake_at LIMIT ?`,
  nextWake: `SELECT wake_at FROM wakeful_timers WHERE tenant = ? AND owner = ? AND wake_at > ? AND +shard = ?
    ORDER BY wake_at LIMIT 1`,
} as const

/** Owners that one look goes through; the next one starts behind them. */
const OWNERS_MAX = 64
const LOOK_AGAIN_MS = 50
const ID = TIMER_COLUMNS.indexOf('id')
const VERSION = TIMER_COLUMNS.indexOf('version')

/** Where the look before ended: with many owners, each comes to its turn. */
const places = new WeakMap<Session, Scope>()

/** What the owners that nobody crowds are due in a shard, a little of each, the most overdue first. */
export function fairDue(session: Session, lease: Lease, request: TakeRequest, room: number): Values[] {
  const owners = ownersFrom(session, places.get(session) ?? FIRST, request)
  if (owners.length > 0) places.set(session, owners.length < OWNERS_MAX ? FIRST : owners.at(-1)!)
  const each = Math.max(1, Math.ceil(room / Math.max(1, owners.length))) + request.held.size
  const rows = owners.flatMap(({ tenant, owner }) =>
    session.values(FAIR_QUERIES.due, tenant, owner, request.context.now, lease.shard, each),
  )
  return rows.filter((row) => !request.held.has(row[ID] as number, row[VERSION] as number)).slice(0, room)
}

/** When those owners are due next; a moment from now where there are too many to ask them all. */
export function fairWakeAt(session: Session, leases: readonly Lease[], request: TakeRequest): number | null {
  const { now } = request.context
  const after = places.get(session) ?? FIRST
  const owners = ownersFrom(session, after, request)
  const wakes = owners.flatMap(({ tenant, owner }) =>
    leases.flatMap(({ shard }) => {
      const isDue = session
        .values(FAIR_QUERIES.due, tenant, owner, now, shard, 1 + request.held.size)
        .some((row) => !request.held.has(row[ID] as number, row[VERSION] as number))
      if (isDue) return [now]
      return session.get<{ wake_at: number }>(FAIR_QUERIES.nextWake, tenant, owner, now, shard)?.wake_at ?? []
    }),
  )
  const isCut = owners.length === OWNERS_MAX
  // Where nobody here is due, those behind are asked next time.
  if (!wakes.includes(now)) places.set(session, isCut ? owners.at(-1)! : FIRST)
  if (isCut || after !== FIRST) wakes.push(now + LOOK_AGAIN_MS)
  return wakes.length === 0 ? null : Math.min(...wakes)
}

const FIRST: Scope = { tenant: '', owner: '' }

function ownersFrom(session: Session, after: Scope, { avoid, avoidOwners }: TakeRequest): Scope[] {
  const owners: Scope[] = []
  let at: Scope | undefined = after
  while (owners.length < OWNERS_MAX) {
    at = nextOwner(session, at, avoid!)
    if (at === undefined) return owners
    if (!avoid!.has(at.tenant) && avoidOwners?.has(ownerKey(at)) !== true) owners.push(at)
  }
  return owners
}

/** The owner after this one who has anything pending; a crowding tenant's are passed over at one step. */
function nextOwner(
  session: Session,
  { tenant, owner }: Scope,
  avoid: ReadonlySet<string>,
): Scope | undefined {
  const next = avoid.has(tenant) ? undefined : session.get<Scope>(FAIR_QUERIES.nextOwner, tenant, owner)
  return next ?? session.get<Scope>(FAIR_QUERIES.nextTenant, tenant)
}
