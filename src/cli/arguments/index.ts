export { addCommand, commandName, joined, wholeNumber } from './command.ts'
export {
  addGlobals,
  fileOf,
  type Globals,
  globalsOf,
  isInMemory,
  type Location,
  locationOf,
  normalizeUrl,
  STORE_DEFAULT,
  scopeOf,
  storeUrl,
  zoneOf,
} from './globals.ts'
export {
  addSetOptions,
  clauses,
  flagName,
  PRINT_TARGET,
  readSetFlags,
  type SetFlags,
} from './set-arguments.ts'
export { addWhenOptions, namesCalendars, readSince, readWhen, type WhenFlags } from './when-arguments.ts'
