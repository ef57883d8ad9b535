export { examinePostgres } from './doctor.ts'
