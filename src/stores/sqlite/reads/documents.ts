import { type Document, documentOf, type NewDocument } from '../../index.ts'
import type { Session } from '../connection/index.ts'
import { nextVersion } from '../rows/index.ts'

const COLUMNS = 'kind, name, tenant, value, version, updated_at'

/** The statements about documents: few rows, rarely written. */
export const DOCUMENT_QUERIES = {
  named: `SELECT ${COLUMNS} FROM wakeful_documents WHERE kind = ? AND name = ?`,
  list: `SELECT ${COLUMNS} FROM wakeful_documents WHERE kind = ? AND name > ? ORDER BY name LIMIT ?`,
  listOfTenant: `SELECT ${COLUMNS} FROM wakeful_documents INDEXED BY wakeful_documents_tenant
    WHERE kind = ? AND tenant = ? AND name > ? ORDER BY name LIMIT ?`,
  put: `INSERT INTO wakeful_documents (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (kind, name) DO UPDATE SET tenant = excluded.tenant, value = excluded.value, version = excluded.version,
    updated_at = excluded.updated_at`,
  remove: 'DELETE FROM wakeful_documents WHERE kind = ? AND name = ?',
  all: `SELECT ${COLUMNS} FROM wakeful_documents ORDER BY kind, name`,
} as const

/** Counts the writes of all documents. */
const VERSION_META = 'document_version'

/** Reads a document; null if there is none. */
export function documentNamed(session: Session, kind: string, name: string): Document | null {
  const row = session.value(DOCUMENT_QUERIES.named, kind, name)
  return row === undefined ? null : documentOf(row)
}

/** Writes a document if the stored one has the expected version; otherwise returns null. */
export function putDocument(
  session: Session,
  { kind, name, tenant, value }: NewDocument,
  now: number,
  expected?: number,
): Document | null {
  if (expected !== undefined && (documentNamed(session, kind, name)?.version ?? 0) !== expected) return null
  const version = nextVersion(session, VERSION_META)
  session.run(DOCUMENT_QUERIES.put, kind, name, tenant, value, version, now)
  return { kind, name, tenant, value, version, updatedAt: now }
}
