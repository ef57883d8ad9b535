/**
 * `node:sqlite`. Not imported, because an import that Node 20 does not know fails before `errors/node-version.ts` can say
 * that Node is too old.
 */
export const nodeSqlite = process.getBuiltinModule('node:sqlite')
