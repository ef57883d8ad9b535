import { parseArgs } from 'node:util'
import { plantAll } from './plant.ts'
import { POSTGRES_PLANTED } from './postgres/planted.ts'
import { SQLITE_PLANTED } from './sqlite-planted.ts'

/** `npm run test:planted [-- --store postgres] [-- --only <words>]`: whether the campaigns find bugs that are really there. */
const { values } = parseArgs({
  options: { store: { type: 'string', default: 'sqlite' }, only: { type: 'string' } },
})
plantAll(values.store === 'postgres' ? POSTGRES_PLANTED : SQLITE_PLANTED, values.only)
