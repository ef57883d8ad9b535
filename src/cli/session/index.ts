export {
  type LocalOrRemoteAlarms,
  type Session,
  type StoreRequirement,
  type StoreSession,
  unscopedStore,
  withSession,
  withStore,
} from './session.ts'
export {
  addKeyOption,
  assertNamed,
  idOf,
  type KeyFlag,
  splitIdFromArguments,
  wholeId,
} from './which-alarm.ts'
