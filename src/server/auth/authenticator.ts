import type { Rights } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import type { Alarms } from '../../library/index.ts'
import { assertLocal, type HeaderReader } from '../http/index.ts'
import { hashOf } from './api-key.ts'
import type { CalendarFeeds, FeedHolder } from './calendar-feeds.ts'
import { ALL_TENANTS, type KeyRegistry, type KeyView } from './key-registry.ts'
import type { TicketStore } from './ticket-store.ts'

/** With these a caller names the tenant and owner it acts for, where its key allows several. Percent-encoded beyond ASCII. */
const TENANT_HEADER = 'wakeful-tenant'
const OWNER_HEADER = 'wakeful-owner'

/** The tenant of the library, the command line, and callers without a key. */
const LOCAL_TENANT = 'default'
const ALARMS_MAX = 1_000

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
}

/** What callers are authenticated with. */
export interface AuthenticatorParts {
  readonly keys: KeyRegistry
  readonly tickets: TicketStore
  readonly feeds: CalendarFeeds
  readonly forTenant: (tenant: string, owner: string) => Alarms
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

  constructor(parts: AuthenticatorParts) {
    this.#parts = parts
  }

  async admit(headers: HeaderReader, via: string): Promise<Caller> {
    const { keys, isLocal, allowedOrigins, allowedHosts } = this.#parts
    const key = bearerOf(headers)
    if (key === null && isLocal && !(await keys.hasKeys())) {
      assertLocal(headers, allowedOrigins, allowedHosts)
      return this.#caller(tenantIn(headers) ?? LOCAL_TENANT, decoded(headers, OWNER_HEADER) ?? '', via)
    }
    if (key === null) throw new WakefulError('access.key_missing', {})
    return this.#admitKey(key, headers, via)
  }

  async #admitKey(text: string, headers: HeaderReader, via: string): Promise<Caller> {
    const key = await this.#parts.keys.find(text)
    if (key === null) throw new WakefulError('access.key_unknown', {})
    const tenant = tenantOf(key, tenantIn(headers))
    const owner = ownerOf(key, decoded(headers, OWNER_HEADER))
    return this.#caller(tenant, owner, via, { key, hash: hashOf(text) })
  }

  /** Admits the caller that a ticket was issued to, if that caller's key is still valid. */
  async admitTicket(text: string, headers: HeaderReader, via: string): Promise<Caller> {
    const { keys, tickets, isLocal, allowedOrigins, allowedHosts } = this.#parts
    const ticket = await tickets.redeem(text)
    if (ticket === null) throw invalidTicket()
    const { tenant, owner, keyId, keyHash } = ticket
    if (keyId === null || keyHash === null) {
      if (!isLocal || (await keys.hasKeys())) throw invalidTicket()
      assertLocal(headers, allowedOrigins, allowedHosts)
      return this.#caller(tenant, owner, via)
    }
    const key = (await keys.isCurrent(keyId, keyHash)) ? await keys.get(keyId) : null
    if (key === null) throw invalidTicket()
    return this.#caller(tenant, owner, via, { key, hash: keyHash })
  }

  /** Admits a reader of a calendar's secret address while the key it was made with is valid. A rotated key is the same key. */
  async admitToken(token: string, headers: HeaderReader): Promise<Caller> {
    const feed = await this.#parts.feeds.find(token)
    if (feed === null || !(await this.#isValid(feed, headers)))
      throw new WakefulError('access.address_unknown', {})
    const { tenant, owner } = feed
    const alarms = this.#alarmsOf(tenant, owner)
    return { tenant, owner, rights: 'read', keyId: null, keyHash: null, key: null, via: 'feed', alarms }
  }

  /** An address made without a key is valid while there are none, and on this machine. */
  async #isValid({ keyId }: FeedHolder, headers: HeaderReader): Promise<boolean> {
    const { keys, isLocal, allowedOrigins, allowedHosts } = this.#parts
    if (keyId !== null) return keys.isLive(keyId)
    if (!isLocal || (await keys.hasKeys())) return false
    assertLocal(headers, allowedOrigins, allowedHosts)
    return true
  }

  #caller(
    tenant: string,
    owner: string,
    via: string,
    by: { readonly key: KeyView | null; readonly hash: string | null } = { key: null, hash: null },
  ): Caller {
    const { key, hash: keyHash } = by
    const alarms = this.#alarmsOf(tenant, owner)
    return {
      tenant,
      owner,
      rights: key?.rights ?? 'admin',
      keyId: key?.id ?? null,
      keyHash,
      key,
      via,
      alarms,
    }
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

function invalidTicket(): WakefulError {
  return new WakefulError('access.ticket_unknown', {})
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
