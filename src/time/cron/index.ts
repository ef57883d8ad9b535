export { compileCron, parseCron } from './cron.ts'
