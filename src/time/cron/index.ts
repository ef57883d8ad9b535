export { compileCron, eitherDay, parseCron } from './cron.ts'
