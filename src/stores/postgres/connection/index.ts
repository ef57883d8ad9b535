export { Growth } from './analyze-on-growth.ts'
export {
  CONNECTIONS_PER_PROCESS,
  commit,
  Database,
  type DatabaseOptions,
  IDLE_IN_TRANSACTION_MS,
} from './database.ts'
export { endAll, hangUp } from './disconnect.ts'
export {
  contention,
  isBroken,
  isContention,
  isDuplicate,
  isForeignTable,
  isLockTimeout,
  isStoreError,
} from './errors.ts'
export { handlerName } from './handler-name.ts'
export { type Bindable, Dialect, type Querying, Session } from './session.ts'
