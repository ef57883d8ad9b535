import { DatabaseSync, StatementSync } from 'node:sqlite'
import pg from 'pg'

/** Told of every statement of this process, on whichever connection. */
export interface StatementListener {
  /** A statement is about to run. */
  running(connection: object, sql: string): void
  /** A statement has ended, and no transaction is open on its connection: what it wrote is committed. */
  committed(connection: object): void
}

type Method = (this: object, ...args: unknown[]) => unknown

/** Listens to node:sqlite and to pg, by wrapping the methods that run statements. Answers with what ends it. */
export function listenToStatements(listener: StatementListener): () => void {
  const undo = [...wrapSqlite(listener), wrapPostgres(listener)]
  return () => {
    for (const each of undo) each()
  }
}

function wrapSqlite(listener: StatementListener): (() => void)[] {
  const databases = new WeakMap<object, DatabaseSync>()
  const observe = (database: DatabaseSync, sql: string, run: () => unknown) => {
    listener.running(database, sql)
    const answer = run()
    if (!database.isTransaction) listener.committed(database)
    return answer
  }
  const prepare = wrap(DatabaseSync.prototype, 'prepare', function (original, args) {
    const statement = original.apply(this, args) as StatementSync
    databases.set(statement, this as DatabaseSync)
    return statement
  })
  const exec = wrap(DatabaseSync.prototype, 'exec', function (original, args) {
    return observe(this as DatabaseSync, String(args[0]), () => original.apply(this, args))
  })
  const statements = (['run', 'get', 'all', 'iterate'] as const).map((name) =>
    wrap(StatementSync.prototype, name, function (original, args) {
      const database = databases.get(this)
      const run = () => original.apply(this, args)
      return database === undefined ? run() : observe(database, (this as StatementSync).sourceSQL, run)
    }),
  )
  return [prepare, exec, ...statements]
}

function wrapPostgres(listener: StatementListener): () => void {
  const inTransaction = new WeakSet<object>()
  return wrap(pg.Client.prototype, 'query', function (original, args) {
    const [query] = args as [string | { readonly text?: string }]
    const sql = (typeof query === 'string' ? query : query.text) ?? ''
    listener.running(this, sql)
    if (/^\s*begin\b/i.test(sql)) inTransaction.add(this)
    if (/\b(?:commit|rollback)\s*;?\s*$/i.test(sql)) inTransaction.delete(this)
    const isLast = !inTransaction.has(this)
    const answer = original.apply(this, args)
    // Before the continuation of whoever sent it: that is attached later.
    if (isLast && answer instanceof Promise)
      answer.then(
        () => listener.committed(this),
        () => {},
      )
    return answer
  })
}

function wrap(
  prototype: object,
  name: string,
  replacement: (this: object, original: Method, args: unknown[]) => unknown,
): () => void {
  const methods = prototype as Record<string, Method>
  const original = methods[name]!
  methods[name] = function (...args) {
    return replacement.call(this, original, args)
  }
  return () => {
    methods[name] = original
  }
}
