import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { errorText, WakefulError } from '../../error.ts'
import type { Sealer } from '../../targets/index.ts'

const SECRET_BYTES = 32
const SECRET_LENGTH_MIN = 32
const SALT = 'wakeful'
const IV_BYTES = 12
const TAG_BYTES = 16
const SEALED = 'v1.'

/** The master secret of an installation. All others are derived from it, so that the database contains none. */
export class Secret implements Sealer {
  readonly #text: string
  #sealing: Buffer | null = null

  constructor(text: string, from: string) {
    this.#text = text.trim()
    if (this.#text.length >= SECRET_LENGTH_MIN) return
    throw new WakefulError('secret.too_short', { from, length: this.#text.length, min: SECRET_LENGTH_MIN })
  }

  /** A key of 32 bytes for one purpose, which reveals neither the secret nor other keys. */
  derive(purpose: string): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#text, SALT, purpose, SECRET_BYTES))
  }

  /** A fingerprint that does not reveal the secret. A store keeps it, to reject another secret. */
  get fingerprint(): string {
    return this.derive('fingerprint').toString('hex').slice(0, 16)
  }

  seal(text: string, purpose: string): string {
    // Derived from the text, so that the same headers are sealed alike: a set by key can then tell that they are unchanged.
    const iv = createHmac('sha256', this.derive('sealing iv'))
      .update(`${purpose}\0${text}`)
      .digest()
      .subarray(0, IV_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#sealingKey(), iv)
    cipher.setAAD(Buffer.from(purpose))
    const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return SEALED + sealed.toString('base64url')
  }

  open(sealed: string, purpose: string): string {
    const bytes = Buffer.from(sealed.slice(SEALED.length), 'base64url')
    try {
      if (!sealed.startsWith(SEALED)) throw new Error('its form is not known')
      const tag = bytes.subarray(bytes.length - TAG_BYTES)
      const key = this.#sealingKey()
      const iv = bytes.subarray(0, IV_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES })
      decipher.setAAD(Buffer.from(purpose))
      decipher.setAuthTag(tag)
      return (
        decipher.update(bytes.subarray(IV_BYTES, bytes.length - TAG_BYTES), undefined, 'utf8') +
        decipher.final('utf8')
      )
    } catch (cause) {
      throw new WakefulError('secret.sealed_otherwise', {}, { cause })
    }
  }

  #sealingKey(): Buffer {
    this.#sealing ??= this.derive('sealing')
    return this.#sealing
  }
}

/** The secret in a file; null if there is none. */
export function readSecretFile(path: string): Secret | null {
  try {
    return new Secret(readFileSync(path, 'utf8'), path)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return null
    if (thrown instanceof WakefulError) throw thrown
    throw new WakefulError('secret.unreadable', { file: path, cause: errorText(thrown) }, { cause: thrown })
  }
}

/** The secret in a file, created at random if there is none. Only its owner can read it. */
export function makeSecretFile(path: string): Secret {
  const known = readSecretFile(path)
  if (known !== null) return known
  const own = `${path}.${randomBytes(6).toString('hex')}`
  try {
    const text = `${randomBytes(SECRET_BYTES).toString('base64url')}\n`
    writeFileSync(own, text, { flag: 'wx', mode: 0o600, flush: true })
    try {
      // Atomic, because another process may create one too. The first wins.
      linkSync(own, path)
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown
    } finally {
      unlinkSync(own)
    }
  } catch (cause) {
    throw new WakefulError('secret.unwritable', { file: path, cause: errorText(cause) }, { cause })
  }
  return readSecretFile(path)!
}

/** A random secret that is not stored. */
export function passingSecret(): Secret {
  return new Secret(randomBytes(SECRET_BYTES).toString('base64url'), 'a secret by chance')
}
