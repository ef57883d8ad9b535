import { WakefulError } from '../../error.ts'
import type { Alarms } from '../../library/index.ts'
import { assertLocal, type HeaderReader } from '../http/index.ts'
import { hashOf } from './api-key.ts'
import type { CalendarFeeds, FeedHolder } from './calendar-feeds.ts'
import type { Caller } from './caller.ts'
import { ALL_TENANTS, type KeyRegistry, type KeyView } from './key-registry.ts'
import type { TicketStore } from './ticket-store.ts'

/** By these a caller names whom it acts for, where its key leaves that open. Percent-encoded beyond ASCII. */
const TENANT_HEADER = 'wakeful-tenant'
const OWNER_HEADER = 'wakeful-owner'

/** The tenant of the library, the command line, and callers without a key. */
const LOCAL_TENANT = 'default'

/** What the gate knows. */
export interface AuthenticatorParts {
  readonly keys: KeyRegistry
  readonly tickets: TicketStore
  readonly feeds: CalendarFeeds
  readonly forTenant: (tenant: string, owner: string) => Alarms
  /** Whether callers without a key may come in at all, while there are no keys. */
  readonly isLocal: boolean
  readonly allowedOrigins: ReadonlySet<string>
  readonly allowedHosts: ReadonlySet<string>
}

/** Lets callers in by their keys; on this machine, while there are no keys, everybody as the local tenant. */
export class Authenticator {
  readonly #parts: AuthenticatorParts

  constructor(parts: AuthenticatorParts) {
    this.#parts = parts
  }

  async admit(headers: HeaderReader, via: string): Promise<Caller> {
    const { keys, isLocal, allowedOrigins, allowedHosts } = this.#parts
    const given = bearerOf(headers)
    if (given === null && isLocal && !(await keys.hasKeys())) {
      assertLocal(headers, allowedOrigins, allowedHosts)
      return this.#caller(tenantNamed(headers) ?? LOCAL_TENANT, named(headers, OWNER_HEADER) ?? '', via)
    }
    if (given === null)
      throw new WakefulError(
        'unauthorized',
        'send a key: Authorization: Bearer wk_…; an admin makes one with `wakeful keys create`',
      )
    return this.admitKey(given, headers, via)
  }

  /** Lets in who has this key, as whom its headers name where the key leaves that open. */
  async admitKey(given: string, headers: HeaderReader, via: string): Promise<Caller> {
    const key = await this.#parts.keys.find(given)
    if (key === null)
      throw new WakefulError(
        'unauthorized',
        'this key is not known, or no longer: it may be revoked or expired',
      )
    const tenant = tenantOf(key, tenantNamed(headers))
    const owner = ownerOf(key, named(headers, OWNER_HEADER))
    return this.#caller(tenant, owner, via, { key, hash: hashOf(given) })
  }

  /** Lets in whoever brings a ticket, as the one it was made for, if that one's key still holds. */
  async admitTicket(given: string, headers: HeaderReader, via: string): Promise<Caller> {
    const { keys, tickets, isLocal, allowedOrigins, allowedHosts } = this.#parts
    const ticket = await tickets.redeem(given)
    if (ticket === null) throw refusedTicket()
    const { tenant, owner, keyId, keyHash } = ticket
    if (keyId === null || keyHash === null) {
      if (!isLocal || (await keys.hasKeys())) throw refusedTicket()
      assertLocal(headers, allowedOrigins, allowedHosts)
      return this.#caller(tenant, owner, via)
    }
    const key = (await keys.holds(keyId, keyHash)) ? await keys.get(keyId) : null
    if (key === null) throw refusedTicket()
    return this.#caller(tenant, owner, via, { key, hash: keyHash })
  }

  /** Lets in whoever has a calendar's address, while the key that made it holds; rotated, it is the same key. */
  async admitToken(token: string, headers: HeaderReader): Promise<Caller> {
    const feed = await this.#parts.feeds.find(token)
    if (feed === null || !(await this.#holds(feed, headers)))
      throw new WakefulError('unauthorized', 'this address is not known, or no longer')
    const { tenant, owner } = feed
    const alarms = this.#parts.forTenant(tenant, owner)
    return { tenant, owner, rights: 'read', keyId: null, keyHash: null, key: null, via: 'feed', alarms }
  }

  /** One that was made without a key is good while there are none, and on this machine. */
  async #holds({ keyId }: FeedHolder, headers: HeaderReader): Promise<boolean> {
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
    const alarms = this.#parts.forTenant(tenant, owner)
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
}

function refusedTicket(): WakefulError {
  return new WakefulError(
    'unauthorized',
    'this ticket is not known: each is good once, for 30 seconds; POST /v1/tickets makes another',
  )
}

function bearerOf(headers: HeaderReader): string | null {
  const given = headers.get('authorization')
  if (given === null) return null
  const found = /^Bearer +(\S+)$/i.exec(given.trim())?.[1]
  if (found !== undefined) return found
  throw new WakefulError('unauthorized', 'the Authorization header must be: Bearer wk_…')
}

function tenantOf({ tenant }: KeyView, asked: string | null): string {
  if (tenant === ALL_TENANTS) return asked ?? LOCAL_TENANT
  if (asked === null || asked === tenant) return tenant
  throw new WakefulError(
    'forbidden',
    'this key belongs to one tenant, and not to the one that Wakeful-Tenant names',
  )
}

function ownerOf({ owner }: KeyView, asked: string | null): string {
  if (owner === null) return asked ?? ''
  if (asked === null || asked === owner) return owner
  throw new WakefulError(
    'forbidden',
    'this key belongs to one owner, and not to the one that Wakeful-Owner names',
  )
}

function tenantNamed(headers: HeaderReader): string | null {
  const tenant = named(headers, TENANT_HEADER)
  if (tenant !== ALL_TENANTS) return tenant
  throw new WakefulError(
    'invalid_request',
    'Wakeful-Tenant names one tenant, and * is the word for every one: name the one whose alarms are meant',
  )
}

function named(headers: HeaderReader, header: string): string | null {
  const given = headers.get(header)
  if (given === null) return null
  try {
    return decodeURIComponent(given)
  } catch {
    throw new WakefulError('invalid_request', `${header} must be percent-encoded UTF-8`)
  }
}
