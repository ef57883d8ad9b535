import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

const KEY = /^wk_([0-9a-f]{16})_[A-Za-z0-9_-]{43}$/

/** A new key: its text is shown once and stored nowhere. */
export interface NewKey {
  /** The public part, which may be shown, logged and listed. */
  readonly id: string
  readonly text: string
  /** All that is stored of it. */
  readonly hash: string
}

/** Makes a key of 256 random bits. */
export function newKey(id = randomBytes(8).toString('hex')): NewKey {
  const text = `wk_${id}_${randomBytes(32).toString('base64url')}`
  return { id, text, hash: hashOf(text) }
}

/** The public part of a key; null if the text is not a key. */
export function keyIdOf(text: string): string | null {
  return KEY.exec(text)?.[1] ?? null
}

/** The hash by which a key is known. Its 256 random bits need no salt and no slow hash. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Whether a key's text has this hash, compared in constant time. */
export function matches(text: string, hash: string): boolean {
  const [actual, stored] = [Buffer.from(hashOf(text), 'hex'), Buffer.from(hash, 'hex')]
  return actual.length === stored.length && timingSafeEqual(actual, stored)
}
