import { type Document, documentOf, type NewDocument, type Values } from '../../index.ts'
import type { Session } from '../connection/index.ts'

const COLUMNS = 'kind, name, tenant, value, version, updated_at'

/** The statements about documents: few rows, rarely written. */
export const DOCUMENT_QUERIES = {
  named: `SELECT ${COLUMNS} FROM wakeful.documents WHERE kind = $1 AND name = $2`,
  list: `SELECT ${COLUMNS} FROM wakeful.documents WHERE kind = $1 AND name > $2 ORDER BY name LIMIT $3::bigint`,
  listOfTenant: `SELECT ${COLUMNS} FROM wakeful.documents WHERE kind = $1 AND tenant = $2 AND name > $3
    ORDER BY name LIMIT $4::bigint`,
  put: `INSERT INTO wakeful.documents AS d (${COLUMNS})
    VALUES ($1, $2, $3, $4, nextval('wakeful.document_versions'), $5::bigint)
    ON CONFLICT (kind, name) DO UPDATE SET tenant = excluded.tenant, value = excluded.value, version = excluded.version,
    updated_at = excluded.updated_at RETURNING ${COLUMNS}`,
  create: `INSERT INTO wakeful.documents (${COLUMNS})
    VALUES ($1, $2, $3, $4, nextval('wakeful.document_versions'), $5::bigint)
    ON CONFLICT (kind, name) DO NOTHING RETURNING ${COLUMNS}`,
  replace: `UPDATE wakeful.documents SET tenant = $3, value = $4, version = nextval('wakeful.document_versions'),
    updated_at = $5::bigint WHERE kind = $1 AND name = $2 AND version = $6::bigint RETURNING ${COLUMNS}`,
  remove: 'DELETE FROM wakeful.documents WHERE kind = $1 AND name = $2',
  all: `SELECT ${COLUMNS} FROM wakeful.documents ORDER BY kind COLLATE "C", name`,
} as const

/**
 * Writes a document if the stored one has the expected version; otherwise returns null. One statement each, so that
 * it is atomic.
 */
export async function putDocument(
  session: Session,
  { kind, name, tenant, value }: NewDocument,
  now: number,
  expected?: number,
): Promise<Document | null> {
  const values = [kind, name, tenant, value, now] as const
  if (expected === undefined) return documentIn(await session.row(DOCUMENT_QUERIES.put, ...values))
  if (expected === 0) return documentIn(await session.row(DOCUMENT_QUERIES.create, ...values))
  return documentIn(await session.row(DOCUMENT_QUERIES.replace, ...values, expected))
}

/** The document of a row, if there is one. */
export function documentIn(row: Values | undefined): Document | null {
  return row === undefined ? null : documentOf(row)
}
