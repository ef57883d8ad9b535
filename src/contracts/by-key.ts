import { z } from 'zod'
import { name } from './fields.ts'
import { operationsOf } from './operation.ts'
import { type ByKey, byKey, ONE_ALARM_CALLS, type OneAlarmCall } from './routes.ts'

const keyParams = z.object({ key: name('The alarm’s key.') })

interface OneAlarmOperation {
  readonly summary: string
  readonly params: z.ZodObject
}

type OneAlarmOperations = Readonly<Record<OneAlarmCall, OneAlarmOperation>>

type ByKeyOperations<O extends OneAlarmOperations> = {
  readonly [N in OneAlarmCall as ByKey<N>]: Omit<O[N], 'params'> & { readonly params: typeof keyParams }
}

/** The calls on one alarm again, with the alarm's key instead of its id. */
export function operationsByKey<O extends OneAlarmOperations>(operations: O): ByKeyOperations<O> {
  const definitions = ONE_ALARM_CALLS.map((name) => {
    const { summary, ...definition } = operations[name]
    return [byKey(name), { ...definition, summary: `${summary}, by its key`, params: keyParams }]
  })
  return operationsOf('alarms by key', Object.fromEntries(definitions)) as ByKeyOperations<O>
}
