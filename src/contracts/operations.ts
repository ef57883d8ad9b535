import { alarmOperations } from './alarms.ts'
import { readOperations } from './reads.ts'

/** Every call of the API, by its name. */
export const operations = { ...alarmOperations, ...readOperations }

/** The name of a call. */
export type OperationName = keyof typeof operations
