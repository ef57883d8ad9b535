import { createHmac, createSecretKey } from 'node:crypto'
import { WakefulError } from '../../error.ts'
import { CachedDocuments, type TenantSecret, type TenantSecrets } from '../../library/index.ts'
import type { Documents } from '../../stores/index.ts'
import type { SigningKey, SigningKeys } from '../../targets/index.ts'
import type { Clock } from '../../time/index.ts'
import type { Keyring } from './keyring.ts'

/** How long the old secret still signs after a rotation. */
const FORMER_MS = 24 * 3_600_000
/** Each old secret adds a signature of 48 bytes to every request. */
const FORMERS_MAX = 10
const TENANTS_MAX = 10_000

/** The number of a tenant's secret, and its rotations. */
interface Rotation {
  /** From 1. */
  readonly number: number
  /** The times of the latest rotations, newest first. */
  readonly rotatedAt: readonly number[]
}

/** The settings of a tenant. Other modules keep theirs in the same document. */
type Settings = Readonly<Record<string, unknown>>

const FIRST: Rotation = { number: 1, rotatedAt: [] }

/** The secrets that sign the webhooks of tenants. They are derived, so only their number is stored. */
export class WebhookSecrets implements SigningKeys, TenantSecrets {
  readonly #keyring: Keyring
  readonly #tenants: CachedDocuments<Settings>
  readonly #clock: Clock
  readonly #keys = new Map<string, SigningKey>()

  constructor(keyring: Keyring, documents: Documents, clock: Clock) {
    this.#keyring = keyring
    this.#tenants = new CachedDocuments(documents, clock, 'tenant')
    this.#clock = clock
  }

  async of(tenant: string): Promise<readonly SigningKey[]> {
    const { number, rotatedAt } = await this.#rotation(tenant)
    const key = this.#keys.get(`${number} ${tenant}`) ?? (await this.#key(tenant, number))
    if (rotatedAt.length === 0) return [key]
    const formers = this.#stillFormer(rotatedAt).map((_, at) => this.#key(tenant, number - 1 - at))
    return [key, ...(await Promise.all(formers))]
  }

  async read(tenant: string): Promise<TenantSecret> {
    const { number, rotatedAt } = await this.#rotation(tenant)
    const textOf = async (each: number) => `whsec_${(await this.#bytes(tenant, each)).toString('base64')}`
    const secret = await textOf(number)
    const [last] = this.#stillFormer(rotatedAt)
    if (last === undefined) return { secret, former: null, formerUntil: null }
    return { secret, former: await textOf(number - 1), formerUntil: new Date(last + FORMER_MS) }
  }

  async rotate(tenant: string): Promise<TenantSecret> {
    await this.#tenants.change(tenant, tenant, (before) => {
      const { number, rotatedAt } = rotationOf(before ?? {})
      const earlier = this.#stillFormer(rotatedAt)
      if (earlier.length >= FORMERS_MAX) {
        const until = new Date(earlier.at(-1)! + FORMER_MS).toISOString()
        throw new WakefulError('webhook.secrets_full', { max: FORMERS_MAX, until })
      }
      const rotated = { number: number + 1, rotated_at: this.#clock.now() }
      return { ...before, webhook_secret: earlier.length === 0 ? rotated : { ...rotated, earlier } }
    })
    return this.read(tenant)
  }

  /** The rotations whose old secret still signs, each for its whole time, even after another rotation. */
  #stillFormer(rotatedAt: readonly number[]): readonly number[] {
    const now = this.#clock.now()
    const over = rotatedAt.findIndex((at) => !(now < at + FORMER_MS))
    return over === -1 ? rotatedAt : rotatedAt.slice(0, over)
  }

  async #rotation(tenant: string): Promise<Rotation> {
    return rotationOf((await this.#tenants.get(tenant))?.value ?? {})
  }

  async #key(tenant: string, number: number): Promise<SigningKey> {
    const name = `${number} ${tenant}`
    const known = this.#keys.get(name)
    if (known !== undefined) return known
    const secret = createSecretKey(await this.#bytes(tenant, number))
    const key: SigningKey = { sign: (text) => createHmac('sha256', secret).update(text).digest('base64') }
    if (this.#keys.size >= TENANTS_MAX) this.#keys.clear()
    this.#keys.set(name, key)
    return key
  }

  async #bytes(tenant: string, number: number): Promise<Buffer> {
    return (await this.#keyring.secret()).derive(JSON.stringify(['webhook', tenant, number]))
  }
}

function rotationOf(settings: Settings): Rotation {
  const kept = settings.webhook_secret as
    | { number?: unknown; rotated_at?: unknown; earlier?: unknown }
    | undefined
  if (typeof kept?.number !== 'number' || !Number.isSafeInteger(kept.number) || kept.number < 1) return FIRST
  const at = typeof kept.rotated_at === 'string' ? Date.parse(kept.rotated_at) : kept.rotated_at
  const all = [at, ...(Array.isArray(kept.earlier) ? kept.earlier : [])]
  const rotatedAt = all.filter((each) => typeof each === 'number').slice(0, kept.number - 1)
  return { number: kept.number, rotatedAt }
}
