import type { TargetSpec } from '../../alarm/index.ts'
import type { OperationName } from '../../contracts/index.ts'
import { withFields } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import type { TakeOptions, WakeReport } from '../../library/index.ts'
import { type CallsOf, ok } from './call.ts'

/** The calls of agents without a URL, and those about where an owner is called. */
export const inboxCalls = {
  inbox: async ({ query }, { caller, signal }) => {
    const { wait, hold, limit } = query
    const options: TakeOptions = {
      ...(wait !== undefined && { wait }),
      ...(hold !== undefined && { hold }),
      ...(limit !== undefined && { limit }),
      ...(signal !== undefined && { signal }),
    }
    const wakes = await caller.alarms.inbox.take(options)
    return ok(`{"items":[${wakes.map(({ bodyJson, tries }) => withFields(bodyJson, { tries })).join(',')}]}`)
  },

  ack: async ({ params, body }, { caller }) => {
    const { complete, fail } = body
    const report: WakeReport = {
      ...(complete !== undefined && { complete }),
      ...(fail !== undefined && { fail }),
    }
    await caller.alarms.inbox.ack(params.occurrence_id, report)
    return ok('{"acknowledged":true}')
  },

  getOwnerTarget: async (_input, { caller }) => {
    const target = await caller.alarms.defaultTarget.get()
    if (target === null)
      throw new WakefulError('not_found', 'you have no default target: PUT /v1/owner/target sets one')
    return ok(JSON.stringify({ target }))
  },

  putOwnerTarget: async ({ body }, { caller }) =>
    ok(JSON.stringify({ target: await caller.alarms.defaultTarget.put(body.target as TargetSpec) })),

  removeOwnerTarget: async (_input, { caller }) =>
    ok(JSON.stringify({ removed: await caller.alarms.defaultTarget.remove() })),
} satisfies Partial<CallsOf<OperationName>>
