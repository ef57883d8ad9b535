export { compileCron, readCron } from './cron.ts'
