import type { OperationName } from '../../contracts/index.ts'
import { alarmCalls } from './alarms.ts'
import type { CallsOf } from './call.ts'
import { readCalls } from './reads.ts'

/** The work of every operation. */
export const calls: CallsOf<OperationName> = { ...alarmCalls, ...readCalls }
