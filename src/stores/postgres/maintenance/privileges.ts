import { type Check, check } from '../../index.ts'
import type { Bindable, Session } from '../connection/index.ts'

const IN_SCHEMA = 'FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace'

/** What the store itself does with sequences; those of identity columns need no right for that. */
export const SEQUENCE_RIGHTS: readonly (readonly [sequence: string, right: string])[] = [
  ['alarms_seq_seq', 'USAGE'],
  ['document_versions', 'USAGE'],
  ['events_seq_seq', 'SELECT'],
  ['tally_slots', 'USAGE'],
]

/** From the catalog, which every role may read. */
const MISSING = {
  schema: `SELECT 'schema ' || nspname, 'USAGE' FROM pg_namespace
    WHERE nspname = $1 AND NOT has_schema_privilege(oid, 'USAGE')`,
  tables: `SELECT c.relname, r.privilege ${IN_SCHEMA}
    CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) WITH ORDINALITY AS r (privilege, place)
    WHERE n.nspname = $1 AND c.relkind = 'r' AND (c.relname <> 'migrations' OR r.privilege = 'SELECT')
    AND NOT has_table_privilege(c.oid, r.privilege) ORDER BY c.relname, r.place`,
  sequences: `SELECT c.relname, r.privilege ${IN_SCHEMA}
    JOIN unnest($2::text[], $3::text[]) AS r (name, privilege) ON r.name = c.relname
    WHERE n.nspname = $1 AND c.relkind = 'S' AND NOT has_sequence_privilege(c.oid, r.privilege) ORDER BY c.relname`,
} as const

const GRANTS: Readonly<Record<keyof typeof MISSING, string>> = {
  schema: 'GRANT USAGE ON SCHEMA',
  tables: 'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA',
  sequences: 'GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA',
}
const KINDS = ['schema', 'tables', 'sequences'] as const

type Found = Readonly<Record<keyof typeof MISSING, readonly (readonly [name: string, right: string])[]>>

/** The rights of the current role, and whether they let it read the tables at all. */
export async function rightsOf(session: Session): Promise<{ check: Check; canRead: boolean }> {
  const { plainSchema: schema } = session.dialect
  const found = await missingRights(session)
  const [role] = (await session.row('SELECT quote_ident(current_user)')) as [string]
  const lacking = KINDS.filter((kind) => found[kind].length > 0)
  const grants = lacking.map((kind) => `${GRANTS[kind]} ${schema} TO ${role};`)
  const missing = lacking.flatMap((kind) => rightsText(found[kind]))
  return {
    check: check(
      'rights',
      missing.length === 0,
      missing.length === 0 ? 'on every table and sequence' : `missing: ${missing.join('; ')}`,
      `as the owner of the schema: ${grants.join(' ')}`,
    ),
    canRead: found.schema.length === 0 && found.tables.every(([, right]) => right !== 'SELECT'),
  }
}

/** Tables that lack the same rights are named together: `INSERT, DELETE on alarms, timers`. */
function rightsText(found: Found[keyof Found]): string[] {
  const byName = Map.groupBy(found, ([name]) => name)
  const rightsOfName = [...byName].map(
    ([name, rows]) => [name, rows.map(([, right]) => right).join(', ')] as const,
  )
  const byRights = Map.groupBy(rightsOfName, ([, rights]) => rights)
  return [...byRights].map(([rights, rows]) => `${rights} on ${rows.map(([name]) => name).join(', ')}`)
}

async function missingRights(session: Session): Promise<Found> {
  const ask = async (query: string, ...values: Bindable[]) =>
    (await session.rows(query, session.dialect.plainSchema, ...values)) as [string, string][]
  const names = SEQUENCE_RIGHTS.map(([name]) => name)
  const rights = SEQUENCE_RIGHTS.map(([, right]) => right)
  return {
    schema: await ask(MISSING.schema),
    tables: await ask(MISSING.tables),
    sequences: await ask(MISSING.sequences, names, rights),
  }
}
