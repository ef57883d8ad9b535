export {
  type AnyAlarms,
  type Need,
  type Session,
  type StoreSession,
  wholeStore,
  withSession,
  withStore,
} from './session.ts'
export { addKeyOption, assertNamed, idOf, type KeyFlag, wholeId, wordsBeside } from './which-alarm.ts'
