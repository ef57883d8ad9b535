import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { WakefulError } from '../../error.ts'
import type { TenantSecret, TenantSecrets } from '../../library/index.ts'
import type { Documents } from '../../stores/index.ts'
import type { SigningKey, SigningKeys } from '../../targets/index.ts'
import type { Clock } from '../../time/index.ts'
import type { Keyring } from './keyring.ts'

/** For so long after a rotation the former secret signs too. */
const FORMER_MS = 24 * 3_600_000
/** How long what the store said of a tenant is believed. */
const FRESH_MS = 500
const TENANTS_MAX = 10_000
const ROTATE_TRIES_MAX = 5
const KIND = 'tenant'

/** Which secret a tenant is at, and since when. */
interface Rotation {
  /** From 1. */
  readonly number: number
  readonly rotatedAt: number | null
}

const FIRST: Rotation = { number: 1, rotatedAt: null }

/** The secrets that tenants' webhooks are signed with: derived, so that only their number is stored. */
export class WebhookSecrets implements SigningKeys, TenantSecrets {
  readonly #keyring: Keyring
  readonly #documents: Pick<Documents, 'getDocument' | 'putDocument'>
  readonly #clock: Clock
  readonly #rotations = new Map<string, { readonly at: number; readonly rotation: Promise<Rotation> }>()
  readonly #keys = new Map<string, SigningKey>()

  constructor(keyring: Keyring, documents: Pick<Documents, 'getDocument' | 'putDocument'>, clock: Clock) {
    this.#keyring = keyring
    this.#documents = documents
    this.#clock = clock
  }

  async of(tenant: string): Promise<readonly SigningKey[]> {
    const { number, rotatedAt } = await this.#rotation(tenant)
    const key = this.#keys.get(`${number} ${tenant}`) ?? (await this.#key(tenant, number))
    if (!this.#isFormerValid(rotatedAt)) return [key]
    return [key, await this.#key(tenant, number - 1)]
  }

  async read(tenant: string): Promise<TenantSecret> {
    const { number, rotatedAt } = await this.#read(tenant)
    const secret = await this.#text(tenant, number)
    if (rotatedAt === null || !this.#isFormerValid(rotatedAt))
      return { secret, former: null, formerUntil: null }
    const former = await this.#text(tenant, number - 1)
    return { secret, former, formerUntil: new Date(rotatedAt + FORMER_MS) }
  }

  async rotate(tenant: string): Promise<TenantSecret> {
    for (let tries = 1; tries <= ROTATE_TRIES_MAX; tries++) {
      const document = await this.#documents.getDocument(KIND, tenant)
      const settings = settingsOf(document?.value)
      const { number } = rotationOf(settings)
      const now = this.#clock.now()
      const webhook_secret = { number: number + 1, rotated_at: now }
      const value = JSON.stringify({ ...settings, webhook_secret })
      const put = { kind: KIND, name: tenant, tenant, value }
      if ((await this.#documents.putDocument(put, now, document?.version ?? 0)) === null) continue
      this.#rotations.delete(tenant)
      return this.read(tenant)
    }
    throw new WakefulError('conflict', 'the tenant’s settings were edited by others meanwhile: try again')
  }

  #isFormerValid(rotatedAt: number | null): boolean {
    return rotatedAt !== null && this.#clock.now() < rotatedAt + FORMER_MS
  }

  #rotation(tenant: string): Promise<Rotation> {
    const now = this.#clock.monotonic()
    const known = this.#rotations.get(tenant)
    if (known !== undefined && now - known.at < FRESH_MS) return known.rotation
    if (this.#rotations.size >= TENANTS_MAX) this.#rotations.clear()
    const rotation = this.#read(tenant)
    this.#rotations.set(tenant, { at: now, rotation })
    rotation.catch(() => this.#rotations.delete(tenant))
    return rotation
  }

  async #read(tenant: string): Promise<Rotation> {
    return rotationOf(settingsOf((await this.#documents.getDocument(KIND, tenant))?.value))
  }

  async #key(tenant: string, number: number): Promise<SigningKey> {
    const name = `${number} ${tenant}`
    const known = this.#keys.get(name)
    if (known !== undefined) return known
    const key = signingKey(createSecretKey(await this.#bytes(tenant, number)))
    if (this.#keys.size >= TENANTS_MAX) this.#keys.clear()
    this.#keys.set(name, key)
    return key
  }

  async #text(tenant: string, number: number): Promise<string> {
    return `whsec_${(await this.#bytes(tenant, number)).toString('base64')}`
  }

  async #bytes(tenant: string, number: number): Promise<Buffer> {
    return (await this.#keyring.secret()).derive(JSON.stringify(['webhook', tenant, number]))
  }
}

function signingKey(key: KeyObject): SigningKey {
  return { sign: (text) => createHmac('sha256', key).update(text).digest('base64') }
}

function settingsOf(value: string | undefined): Readonly<Record<string, unknown>> {
  return value === undefined ? {} : (JSON.parse(value) as Record<string, unknown>)
}

function rotationOf(settings: Readonly<Record<string, unknown>>): Rotation {
  const kept = settings.webhook_secret as { number?: unknown; rotated_at?: unknown } | undefined
  if (typeof kept?.number !== 'number' || !Number.isSafeInteger(kept.number) || kept.number < 1) return FIRST
  const at = typeof kept.rotated_at === 'string' ? Date.parse(kept.rotated_at) : kept.rotated_at
  return { number: kept.number, rotatedAt: typeof at === 'number' && kept.number > 1 ? at : null }
}
