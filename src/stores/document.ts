/**
 * What is kept beside the alarms: API keys, tenants' settings, default targets, pauses. Small, and read through caches.
 * A document is named by its kind and its name; its tenant says whose it is.
 */
export interface Document {
  readonly kind: string
  readonly name: string
  readonly tenant: string
  /** JSON text, kept byte for byte. */
  readonly value: string
  /** Grows with every write, over all documents: one that was removed and put anew has another. */
  readonly version: number
  readonly updatedAt: number
}

/** A document to be written: the store gives it its version. */
export type NewDocument = Pick<Document, 'kind' | 'name' | 'tenant' | 'value'>

/** The documents of a store. A store behind a network asks it each time: whoever reads often keeps a copy for a moment. */
export interface Documents {
  getDocument(kind: string, name: string): Promise<Document | null>
  /** By name, those after `after`; of one tenant, or (null) of all. */
  listDocuments(kind: string, tenant: string | null, after: string, limit: number): Promise<Document[]>
  /** Writes it if `version` is the stored one's (0: there is none yet; undefined: whatever is there); null where it is not. */
  putDocument(document: NewDocument, now: number, version?: number): Promise<Document | null>
  /** False where there is none. */
  removeDocument(kind: string, name: string): Promise<boolean>
}
