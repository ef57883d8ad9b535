export { backupTo } from './backup.ts'
export { examine } from './doctor.ts'
