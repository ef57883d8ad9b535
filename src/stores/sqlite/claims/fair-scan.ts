import type { Scope } from '../../../alarm/index.ts'
import {
  ALARM_COLUMNS,
  type ClaimRequest,
  type Lease,
  ownerKey,
  TIMER_COLUMNS,
  type Values,
} from '../../index.ts'
import type { Session } from '../connection/index.ts'

const SEEN = TIMER_COLUMNS.map((column) => `t.${column}`).join(', ')
const ALARM = ALARM_COLUMNS.map((column) => `a.${column}`).join(', ')

/**
 * The statements of a look that passes tenants and owners over: none of them reads all that those have due. The plus keeps
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
  newest: `SELECT id, version, tenant, owner, wake_at FROM wakeful_timers WHERE shard = ? AND wake_at <= ?
    ORDER BY wake_at DESC LIMIT ?`,
  upcoming: `SELECT id, version, tenant, owner, wake_at FROM wakeful_timers WHERE shard = ? AND wake_at > ?
    ORDER BY wake_at LIMIT ?`,
  byId: `SELECT ${SEEN}, a.seq, ${ALARM} FROM wakeful_timers t LEFT JOIN wakeful_alarms a ON a.seq = t.alarm WHERE t.id = ?`,
} as const

/** Owners that one look goes through; the next one starts behind them. */
const OWNERS_MAX = 64
/** How soon those are asked who have been due for long, beside so much that is newer. */
const LOOK_AGAIN_MS = 200
/** What came due last is looked at first: who is avoided has a backlog, and whoever else comes due stands behind it. */
const NEWEST_MAX = 500
const UPCOMING_MAX = 64
const ID = TIMER_COLUMNS.indexOf('id')
const VERSION = TIMER_COLUMNS.indexOf('version')

/** A timer, and whose it is. */
interface Seen extends Scope {
  readonly id: number
  readonly version: number
  readonly wake_at: number
}

/** Where the look before ended: with many owners, each comes to its turn. */
const places = new WeakMap<Session, Scope>()

/** What those are due in a shard whom nobody passes over: what came due last, and a little of each of some owners. */
export function fairDue(session: Session, lease: Lease, request: ClaimRequest, room: number): Values[] {
  const newest = newestOf(session, lease, request).slice(0, room)
  const rows = newest.map(({ id }) => session.value(FAIR_QUERIES.byId, id)!)
  if (rows.length >= room) return rows
  const known = new Set(newest.map(({ id }) => id))
  const owners = ownersFrom(session, placeOf(session), request)
  const each = Math.max(1, Math.ceil(room / Math.max(1, owners.length))) + request.inFlight.size + known.size
  const others = owners
    .flatMap(({ tenant, owner }) =>
      session.values(FAIR_QUERIES.due, tenant, owner, request.context.now, lease.shard, each),
    )
    .filter((row) => isFree(row, request) && !known.has(row[ID] as number))
  return [...rows, ...others].slice(0, room)
}

/** Goes on to the next owners: those of this look have had their turn, in every shard. */
export function passOn(session: Session, request: ClaimRequest): void {
  const owners = ownersFrom(session, placeOf(session), request)
  places.set(session, owners.length < OWNERS_MAX ? FIRST : owners.at(-1)!)
}

/** When those owners are due next; a moment from now where there are too many to ask them all. */
export function fairWakeAt(session: Session, leases: readonly Lease[], request: ClaimRequest): number | null {
  const { now } = request.context
  if (leases.some((lease) => newestOf(session, lease, request).length > 0)) return now
  const after = placeOf(session)
  const owners = ownersFrom(session, after, request)
  const isDue = owners.some(({ tenant, owner }) =>
    leases.some(({ shard }) =>
      session
        .values(FAIR_QUERIES.due, tenant, owner, now, shard, 1 + request.inFlight.size)
        .some((row) => isFree(row, request)),
    ),
  )
  if (isDue) return now
  const wakes = leases.flatMap((lease) => upcomingOf(session, lease, owners, request) ?? [])
  const isCut = owners.length === OWNERS_MAX
  // Where nobody here is due, those behind are asked next time.
  places.set(session, isCut ? owners.at(-1)! : FIRST)
  if (isCut || after !== FIRST) wakes.push(now + LOOK_AGAIN_MS)
  return wakes.length === 0 ? null : Math.min(...wakes)
}

/** What came due last in a shard and may be had, the most overdue first. */
function newestOf(session: Session, { shard }: Lease, request: ClaimRequest): Seen[] {
  const rows = session.all<Seen>(FAIR_QUERIES.newest, shard, request.context.now, NEWEST_MAX)
  return rows
    .filter((row) => !request.inFlight.has(row.id, row.version) && !isAvoided(row, request))
    .reverse()
}

/** When a shard wakes next for those who are not avoided: by what comes next, or, where all of that is avoided, by owner. */
function upcomingOf(
  session: Session,
  { shard }: Lease,
  owners: readonly Scope[],
  request: ClaimRequest,
): number | null {
  const { now } = request.context
  const rows = session.all<Seen>(FAIR_QUERIES.upcoming, shard, now, UPCOMING_MAX)
  const next = rows.find((row) => !isAvoided(row, request))
  if (next !== undefined) return next.wake_at
  if (rows.length < UPCOMING_MAX) return null
  const wakes = owners.flatMap(
    ({ tenant, owner }) =>
      session.get<{ wake_at: number }>(FAIR_QUERIES.nextWake, tenant, owner, now, shard)?.wake_at ?? [],
  )
  return wakes.length === 0 ? null : Math.min(...wakes)
}

function isFree(row: Values, { inFlight: held }: ClaimRequest): boolean {
  return !held.has(row[ID] as number, row[VERSION] as number)
}

function isAvoided(scope: Scope, { avoid, avoidOwners }: ClaimRequest): boolean {
  return avoid!.has(scope.tenant) || avoidOwners?.has(ownerKey(scope)) === true
}

function placeOf(session: Session): Scope {
  return places.get(session) ?? FIRST
}

const FIRST: Scope = { tenant: '', owner: '' }

function ownersFrom(session: Session, after: Scope, request: ClaimRequest): Scope[] {
  const owners: Scope[] = []
  let at: Scope | undefined = after
  while (owners.length < OWNERS_MAX) {
    at = nextOwner(session, at, request.avoid!)
    if (at === undefined) return owners
    if (!isAvoided(at, request)) owners.push(at)
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
