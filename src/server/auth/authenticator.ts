import type { Rights } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import { type Alarms, CACHE_MS_MAX, type LocalReads } from '../../library/index.ts'
import type { Clock } from '../../time/index.ts'
import type { HeaderReader } from '../http/index.ts'
import type { CalendarFeeds } from './calendar-feeds.ts'
import { ALL_TENANTS, hashOf, type KeyRegistry, type KeyView } from './key-registry.ts'
import type { TicketStore } from './ticket-store.ts'

/** With these a caller names the tenant and owner it acts for, where its key allows several. Percent-encoded beyond ASCII. */
const TENANT_HEADER = 'wakeful-tenant'
const OWNER_HEADER = 'wakeful-owner'

/** The tenant of the library, the command line, and callers without a key. */
const LOCAL_TENANT = 'default'
const ALARMS_MAX = 1_000

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i

/** Headers that proxies add. */
export const PROXIED: readonly string[] = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-prefix',
  'x-forwarded-proto',
  'x-forwarded-scheme',
  'x-forwarded-server',
  'x-forwarded-ssl',
  'x-original-forwarded-for',
  'x-real-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'cf-ray',
  'cdn-loop',
  'fastly-client-ip',
  'fly-client-ip',
  'x-envoy-external-address',
]
/** A page of this server, or no page. Other ports of this machine count as the same site. */
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none'])

const RANK: Readonly<Record<Rights, number>> = { read: 0, write: 1, admin: 2 }

/** Who calls, with which rights, and the alarms they can see. */
export interface Caller {
  readonly tenant: string
  readonly owner: string
  readonly rights: Rights
  /** The public part of the key they sent; null on a server without keys. */
  readonly keyId: string | null
  /** The key, without its secret part. */
  readonly key: KeyView | null
  /** The hash of the key they sent: when the key gets another, live connections that use this one are ended. */
  readonly keyHash: string | null
  /** The interface they call through, which is recorded: `rest`, `ws`, `mcp`. */
  readonly via: string
  /** Their alarms and no others (promise: isolated). */
  readonly alarms: Alarms
  /** What they may read of others; callers that are bound to one owner have none. */
  readonly wide?: WideReads
}

/** The alarms that a caller may read beyond its own. */
export interface WideReads {
  /** Those of every owner of its tenant. */
  readonly allOwners: () => LocalReads
  /** Those of every tenant; null if it may not read them. */
  readonly allTenants: (() => LocalReads) | null
  /** Where it finds an alarm by its id; null among its own. */
  readonly byId: (() => LocalReads) | null
}

/** What callers are authenticated with. */
export interface AuthenticatorParts {
  readonly keys: KeyRegistry
  readonly tickets: TicketStore
  readonly feeds: CalendarFeeds
  readonly clock: Pick<Clock, 'monotonic'>
  readonly forTenant: (tenant: string, owner: string) => Alarms
  readonly allOwners: (tenant: string) => LocalReads
  readonly allTenants: () => LocalReads
  /** Whether callers without a key are admitted while there are no keys. */
  readonly isLocal: boolean
  readonly allowedOrigins: ReadonlySet<string>
  readonly allowedHosts: ReadonlySet<string>
}

/** Admits callers by their keys. While there are no keys, callers on this machine are admitted as the local tenant. */
export class Authenticator {
  readonly #parts: AuthenticatorParts
  /** By tenant and owner: the same callers come again and again. */
  readonly #alarms = new Map<string, Alarms>()

  /** Whether there are any keys, as it was half a second ago. */
  #anyKeys: { readonly until: number; readonly found: Promise<boolean> } | null = null

  constructor(parts: AuthenticatorParts) {
    this.#parts = parts
    parts.keys.onChanged(() => {
      this.#anyKeys = null
    })
  }

  async admit(headers: HeaderReader, via: string): Promise<Caller> {
    const text = bearerOf(headers)
    if (text === null) {
      if (!(await this.#admitsLocal(headers))) throw new WakefulError('access.key_missing', {})
      const tenant = tenantIn(headers) ?? LOCAL_TENANT
      const caller = this.#caller(tenant, decoded(headers, OWNER_HEADER) ?? '', via)
      return { ...caller, ...this.#wide(caller, headers) }
    }
    const key = await this.#parts.keys.find(text)
    if (key === null) throw new WakefulError('access.key_unknown', {})
    const tenant = tenantOf(key, tenantIn(headers))
    const owner = ownerOf(key, decoded(headers, OWNER_HEADER))
    const caller = this.#caller(tenant, owner, via, key, hashOf(text))
    return { ...caller, ...this.#wide(caller, headers) }
  }

  /** Admits the caller that a ticket was issued to, if that caller's key is still valid. */
  async admitTicket(text: string, headers: HeaderReader, via: string): Promise<Caller> {
    const { keys, tickets } = this.#parts
    const ticket = await tickets.redeem(text)
    if (ticket === null) throw new WakefulError('access.ticket_unknown', {})
    const { tenant, owner, keyId, keyHash } = ticket
    const key = keyId === null || keyHash === null ? null : await keys.findByHash(keyId, keyHash)
    const isAdmitted = keyId === null ? await this.#admitsLocal(headers) : key !== null
    if (!isAdmitted) throw new WakefulError('access.ticket_unknown', {})
    return this.#caller(tenant, owner, via, key, keyHash)
  }

  /** Admits a reader of a calendar's secret address while the key it was made with is valid. A rotated key is the same key. */
  async admitToken(token: string, headers: HeaderReader): Promise<Caller> {
    const { keys, feeds } = this.#parts
    const feed = await feeds.find(token)
    // An address made without a key is valid while there are none, and on this machine.
    const isValid =
      feed !== null &&
      (feed.keyId === null ? await this.#admitsLocal(headers) : await keys.isLive(feed.keyId))
    if (!isValid) throw new WakefulError('access.address_unknown', {})
    return { ...this.#caller(feed.tenant, feed.owner, 'feed'), rights: 'read' }
  }

  /** Whether a caller's key is still valid with the text it had when the caller was admitted. */
  async isValid({ keyId, keyHash }: Caller): Promise<boolean> {
    // A caller without a key was admitted because there were none.
    if (keyId === null || keyHash === null) return !(await this.#hasKeys())
    return (await this.#parts.keys.findByHash(keyId, keyHash)) !== null
  }

  /** Whether callers without a key are admitted. Throws if this one is not on this machine, or is a foreign page. */
  async #admitsLocal(headers: HeaderReader): Promise<boolean> {
    const { isLocal, allowedOrigins, allowedHosts } = this.#parts
    if (!isLocal || (await this.#hasKeys())) return false
    assertLocal(headers, allowedOrigins, allowedHosts)
    return true
  }

  #hasKeys(): Promise<boolean> {
    const { keys, clock } = this.#parts
    const now = clock.monotonic()
    if (this.#anyKeys === null || now >= this.#anyKeys.until) {
      const found = keys.hasKeys()
      found.catch(() => {
        this.#anyKeys = null
      })
      this.#anyKeys = { until: now + CACHE_MS_MAX, found }
    }
    return this.#anyKeys.found
  }

  /** A caller without a key was admitted because there are none, and may do everything. */
  #caller(
    tenant: string,
    owner: string,
    via: string,
    key: KeyView | null = null,
    keyHash: string | null = null,
  ): Caller {
    const alarms = this.#alarmsOf(tenant, owner)
    const rights = key?.rights ?? 'admin'
    return { tenant, owner, rights, keyId: key?.id ?? null, keyHash, key, via, alarms }
  }

  /**
   * What a caller may read of others. Not for tickets and calendar addresses, which are given to one owner, nor for agents.
   * An admin key whose call names no owner finds an alarm by its id alone.
   */
  #wide(caller: Caller, headers: HeaderReader): Pick<Caller, 'wide'> {
    const { tenant, key, rights, via } = caller
    if (via === 'mcp' || (key !== null && key.owner !== null)) return {}
    const { allOwners, allTenants } = this.#parts
    const isAdmin = rights === 'admin'
    const ofTenant = () => allOwners(tenant)
    const ofAll = isAdmin && (key === null || key.tenant === ALL_TENANTS) ? () => allTenants() : null
    const namesTenant = headers.get(TENANT_HEADER) !== null
    const byId = namesTenant || ofAll === null ? ofTenant : ofAll
    // Without keys, one person uses the server as its only owner, and asks for all by name.
    const findsById = isAdmin && key !== null && headers.get(OWNER_HEADER) === null
    return { wide: { allOwners: ofTenant, allTenants: ofAll, byId: findsById ? byId : null } }
  }

  #alarmsOf(tenant: string, owner: string): Alarms {
    const name = ownerName({ tenant, owner })
    const known = this.#alarms.get(name)
    if (known !== undefined) return known
    const alarms = this.#parts.forTenant(tenant, owner)
    if (this.#alarms.size >= ALARMS_MAX) this.#alarms.clear()
    this.#alarms.set(name, alarms)
    return alarms
  }
}

/** Whether rights include what a call needs. */
export function includes(rights: Rights, needed: Rights): boolean {
  return RANK[rights] >= RANK[needed]
}

/** Throws if the caller does not have these rights. */
export function assertMay(caller: Caller, needed: Rights): void {
  if (!includes(caller.rights, needed))
    throw new WakefulError('access.rights', { needed, rights: caller.rights })
}

/** A name of an owner that is unique among all tenants. */
export function ownerName({ tenant, owner }: Pick<Caller, 'tenant' | 'owner'>): string {
  return JSON.stringify([tenant, owner])
}

function bearerOf(headers: HeaderReader): string | null {
  const header = headers.get('authorization')
  if (header === null) return null
  const found = /^Bearer +(\S+)$/i.exec(header.trim())?.[1]
  if (found !== undefined) return found
  throw new WakefulError('access.header_malformed', {})
}

function tenantOf({ tenant }: KeyView, asked: string | null): string {
  if (tenant === ALL_TENANTS) return asked ?? LOCAL_TENANT
  if (asked === null || asked === tenant) return tenant
  throw new WakefulError('access.other_tenant', {})
}

function ownerOf({ owner }: KeyView, asked: string | null): string {
  if (owner === null) return asked ?? ''
  if (asked === null || asked === owner) return owner
  throw new WakefulError('access.other_owner', {})
}

function tenantIn(headers: HeaderReader): string | null {
  const tenant = decoded(headers, TENANT_HEADER)
  if (tenant !== ALL_TENANTS) return tenant
  throw new WakefulError('access.every_tenant', {})
}

function decoded(headers: HeaderReader, header: string): string | null {
  const value = headers.get(header)
  if (value === null) return null
  try {
    return decodeURIComponent(value)
  } catch {
    throw new WakefulError('request.header_encoding', { header })
  }
}

/** Whether only this machine can reach an address. */
export function isLoopback(host: string): boolean {
  return host === '::1' || LOOPBACK.test(host)
}

/**
 * A server without keys is protected only by being unreachable from other machines. A page in the user's browser can reach it:
 * through a DNS name that points here (so the Host must be this machine's), or across origins (so the Origin must be ours).
 */
export function assertLocal(
  headers: HeaderReader,
  allowedOrigins: ReadonlySet<string>,
  allowedHosts: ReadonlySet<string>,
): void {
  const host = headers.get('host')
  if (host === null || !(LOOPBACK.test(host) || allowedHosts.has(host)))
    throw new WakefulError('access.not_local', { host: JSON.stringify((host ?? '').slice(0, 100)) })
  // A proxy on this machine may forward calls from anywhere.
  const proxied = allowedHosts.has(host) ? undefined : PROXIED.find((name) => headers.get(name) !== null)
  if (proxied !== undefined) throw new WakefulError('access.proxied', { header: proxied })
  const origin = headers.get('origin')
  if (origin !== null && !isOwnOrigin(origin, host) && !allowedOrigins.has(origin))
    throw new WakefulError('access.origin', { origin: JSON.stringify(origin.slice(0, 100)) })
  const site = headers.get('sec-fetch-site')
  if (origin === null && site !== null && !OWN_SITES.has(site))
    throw new WakefulError('access.other_site', {})
}

/** Whether a page's origin is this server, by the name it was called by. */
export function isOwnOrigin(origin: string, host: string): boolean {
  return origin === `http://${host}` || origin === `https://${host}`
}
