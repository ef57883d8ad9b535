export { Growth } from './analyze-on-growth.ts'
export {
  CONNECTIONS_PER_PROCESS,
  commit,
  Database,
  type DatabaseOptions,
  IDLE_IN_TRANSACTION_MS,
} from './database.ts'
export {
  contention,
  isBroken,
  isContention,
  isDuplicate,
  isForeignTable,
  isLockTimeout,
  isStoreError,
} from './errors.ts'
export {
  type Bindable,
  boundOf,
  columns,
  Dialect,
  endAll,
  hangUp,
  properties,
  type Querying,
  Session,
} from './session.ts'
