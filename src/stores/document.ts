import type { Values } from './rows.ts'

/**
 * What is stored beside the alarms: API keys, tenant settings, default targets, pauses. Small, and read through caches.
 * A document is identified by its kind and name.
 */
export interface Document {
  readonly kind: string
  readonly name: string
  readonly tenant: string
  /** JSON text, stored byte for byte. */
  readonly value: string
  /** Grows with every write of any document, so that one that was removed and created again has a new version. */
  readonly version: number
  readonly updatedAt: number
}

/** A document to write; the store sets its version. */
export type NewDocument = Pick<Document, 'kind' | 'name' | 'tenant' | 'value'>

/** The documents of a store. Every read asks the database; callers that read often cache. */
export interface Documents {
  getDocument(kind: string, name: string): Promise<Document | null>
  /** In order of name, after `after`; of one tenant, or of all (null). */
  listDocuments(kind: string, tenant: string | null, after: string, limit: number): Promise<Document[]>
  /** Writes it if `version` matches the stored one (0: it does not exist; undefined: any); otherwise returns null. */
  putDocument(document: NewDocument, now: number, version?: number): Promise<Document | null>
  /** False if there is none. */
  removeDocument(kind: string, name: string): Promise<boolean>
}

/** The document of a row. */
export function documentOf(values: Values): Document {
  const [kind, name, tenant, value, version, updatedAt] = values as DocumentValues
  return { kind, name, tenant, value, version, updatedAt }
}

type DocumentValues = [string, string, string, string, number, number]
