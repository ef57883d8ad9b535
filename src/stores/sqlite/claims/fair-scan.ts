import type { Scope } from '../../../alarm/index.ts'
import { type ClaimRequest, type Lease, ownerKey, TIMER_COLUMNS, type Values } from '../../index.ts'
import type { Session } from '../connection/index.ts'
import * as sql from '../sql/index.ts'

/**
 * The statements of a scan that skips tenants and owners over their limit: none of them reads all that those have due. As
 * in `dueOfOwner`, the plus before `shard` keeps SQLite from using the due index, which would read everything that is due.
 */
export const FAIR_QUERIES = {
  nextOwner: `SELECT tenant, owner FROM wakeful_timers WHERE wake_at IS NOT NULL AND tenant = ? AND owner > ?
    ORDER BY owner LIMIT 1`,
  nextTenant: `SELECT tenant, owner FROM wakeful_timers WHERE wake_at IS NOT NULL AND tenant > ?
    ORDER BY tenant, owner LIMIT 1`,
  nextWake: `SELECT wake_at FROM wakeful_timers WHERE tenant = ? AND owner = ? AND wake_at > ? AND +shard = ?
    ORDER BY wake_at LIMIT 1`,
  newest: `SELECT id, version, tenant, owner, wake_at FROM wakeful_timers WHERE shard = ? AND wake_at <= ?
    ORDER BY wake_at DESC LIMIT ?`,
  upcoming: `SELECT id, version, tenant, owner, wake_at FROM wakeful_timers WHERE shard = ? AND wake_at > ?
    ORDER BY wake_at LIMIT ?`,
} as const

/** Owners that one scan reads; the next one continues after them. */
const OWNERS_MAX = 64
/** How soon the remaining owners are scanned. */
const SCAN_AGAIN_MS = 200
/** The newest due rows are read first: the skipped owners have a backlog, and other owners' rows come after it. */
const NEWEST_MAX = 500
const UPCOMING_MAX = 64
const ID = TIMER_COLUMNS.indexOf('id')
const VERSION = TIMER_COLUMNS.indexOf('version')

/** A timer with its owner. */
interface ScannedTimer extends Scope {
  readonly id: number
  readonly version: number
  readonly wake_at: number
}

/** Where the previous scan ended, so that every owner gets a turn. */
const positions = new WeakMap<Session, Scope>()

/** What is due in a shard for owners within their limits: the newest rows, and then some rows of each of a few owners. */
export function fairDue(session: Session, lease: Lease, request: ClaimRequest, limit: number): Values[] {
  const newest = newestOf(session, lease, request).slice(0, limit)
  const rows = newest.map(({ id }) => session.value(sql.dueTimer, id)!)
  if (rows.length >= limit) return rows
  const known = new Set(newest.map(({ id }) => id))
  const owners = ownersFrom(session, positionOf(session), request)
  const each = Math.max(1, Math.ceil(limit / Math.max(1, owners.length))) + request.inFlight.size + known.size
  const others = owners
    .flatMap(({ tenant, owner }) =>
      session.values(sql.dueOfOwner, tenant, owner, request.context.now, lease.shard, each),
    )
    .filter((row) => isFree(row, request) && !known.has(row[ID] as number))
  return [...rows, ...others].slice(0, limit)
}

/** Continues with the next owners: those of this scan have had their turn in every shard. */
export function advanceFairScan(session: Session, request: ClaimRequest): void {
  const owners = ownersFrom(session, positionOf(session), request)
  positions.set(session, owners.length < OWNERS_MAX ? FIRST : owners.at(-1)!)
}

/** When owners within their limits are due next; shortly from now if there are too many to scan them all. */
export function nextFairWakeAt(
  session: Session,
  leases: readonly Lease[],
  request: ClaimRequest,
): number | null {
  const { now } = request.context
  if (leases.some((lease) => newestOf(session, lease, request).length > 0)) return now
  const after = positionOf(session)
  const owners = ownersFrom(session, after, request)
  const isDue = owners.some(({ tenant, owner }) =>
    leases.some(({ shard }) =>
      session
        .values(sql.dueOfOwner, tenant, owner, now, shard, 1 + request.inFlight.size)
        .some((row) => isFree(row, request)),
    ),
  )
  if (isDue) return now
  const wakes = leases.flatMap((lease) => upcomingOf(session, lease, owners, request) ?? [])
  const isCut = owners.length === OWNERS_MAX
  // None of these is due, so the next scan continues after them.
  positions.set(session, isCut ? owners.at(-1)! : FIRST)
  if (isCut || after !== FIRST) wakes.push(now + SCAN_AGAIN_MS)
  return wakes.length === 0 ? null : Math.min(...wakes)
}

/** The newest due rows of a shard that can be claimed, the most overdue first. */
function newestOf(session: Session, { shard }: Lease, request: ClaimRequest): ScannedTimer[] {
  const rows = session.all<ScannedTimer>(FAIR_QUERIES.newest, shard, request.context.now, NEWEST_MAX)
  return rows
    .filter((row) => !request.inFlight.has(row.id, row.version) && !isSkipped(row, request))
    .reverse()
}

/** When a shard wakes next for owners within their limits: by its next rows or, if those are all skipped, by owner. */
function upcomingOf(
  session: Session,
  { shard }: Lease,
  owners: readonly Scope[],
  request: ClaimRequest,
): number | null {
  const { now } = request.context
  const rows = session.all<ScannedTimer>(FAIR_QUERIES.upcoming, shard, now, UPCOMING_MAX)
  const next = rows.find((row) => !isSkipped(row, request))
  if (next !== undefined) return next.wake_at
  if (rows.length < UPCOMING_MAX) return null
  const wakes = owners.flatMap(
    ({ tenant, owner }) =>
      session.get<{ wake_at: number }>(FAIR_QUERIES.nextWake, tenant, owner, now, shard)?.wake_at ?? [],
  )
  return wakes.length === 0 ? null : Math.min(...wakes)
}

function isFree(row: Values, { inFlight }: ClaimRequest): boolean {
  return !inFlight.has(row[ID] as number, row[VERSION] as number)
}

function isSkipped(scope: Scope, { skipTenants, skipOwners }: ClaimRequest): boolean {
  return skipTenants!.has(scope.tenant) || skipOwners?.has(ownerKey(scope)) === true
}

function positionOf(session: Session): Scope {
  return positions.get(session) ?? FIRST
}

const FIRST: Scope = { tenant: '', owner: '' }

function ownersFrom(session: Session, after: Scope, request: ClaimRequest): Scope[] {
  const owners: Scope[] = []
  let at: Scope | undefined = after
  while (owners.length < OWNERS_MAX) {
    at = nextOwner(session, at, request.skipTenants!)
    if (at === undefined) return owners
    if (!isSkipped(at, request)) owners.push(at)
  }
  return owners
}

/** The next owner with pending timers; all owners of a skipped tenant are passed in one step. */
function nextOwner(
  session: Session,
  { tenant, owner }: Scope,
  skipTenants: ReadonlySet<string>,
): Scope | undefined {
  const next = skipTenants.has(tenant) ? undefined : session.get<Scope>(FAIR_QUERIES.nextOwner, tenant, owner)
  return next ?? session.get<Scope>(FAIR_QUERIES.nextTenant, tenant)
}
