/** Wakeful on Node: wires the ports to the runtime. */
export {
  backup,
  doctor,
  exportLines,
  importLines,
  type LineCounts,
  migrateStore,
  migrationText,
  missingStorePlace,
  noLines,
  type Progress,
} from './maintenance.ts'
export { type OpenOptions, open, openOn, warn } from './open.ts'
export { storeFile } from './store-url.ts'
export { systemClock } from './system-clock.ts'
