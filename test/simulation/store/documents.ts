import type { Document, NewDocument } from '../../../src/stores/index.ts'
import type { SimulatedDatabase } from './database.ts'

/** Reads a document, or null. */
export function documentNamed({ tables }: SimulatedDatabase, kind: string, name: string): Document | null {
  return tables.documents.get(keyOf(kind, name)) ?? null
}

/** Reads documents of a kind by name, of one tenant or of all. */
export function listDocuments(
  { tables }: SimulatedDatabase,
  kind: string,
  tenant: string | null,
  after: string,
  limit: number,
): Document[] {
  return tables.documents
    .values()
    .filter((each) => each.kind === kind && (tenant === null || each.tenant === tenant) && each.name > after)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .slice(0, limit)
}

/** Writes a document if the stored one has this version; otherwise returns null. */
export function putDocument(
  database: SimulatedDatabase,
  { kind, name, tenant, value }: NewDocument,
  now: number,
  expected?: number,
): Document | null {
  const before = documentNamed(database, kind, name)
  if (expected !== undefined && (before?.version ?? 0) !== expected) return null
  const version = Number(database.next('documents'))
  const document = { kind, name, tenant, value, version, updatedAt: now }
  database.tables.documents.put(keyOf(kind, name), document)
  return document
}

/** Removes a document. Returns false if there is none. */
export function removeDocument({ tables }: SimulatedDatabase, kind: string, name: string): boolean {
  return tables.documents.remove(keyOf(kind, name))
}

function keyOf(kind: string, name: string): string {
  return JSON.stringify([kind, name])
}
