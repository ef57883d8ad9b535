import type { TargetSpec } from '../../alarm/index.ts'
import type { OperationName } from '../../contracts/index.ts'
import { withFields } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import type { TakeOptions, WakeReport } from '../../library/index.ts'
import type { Caller } from '../caller.ts'
import type { Lines } from '../live/lines.ts'
import { type CallsOf, ok } from './call.ts'

/** Who ends a wait; null where there are no keys, and nothing closes before its callers. */
type Attending = Pick<Lines, 'attend'> | null

/** The calls of agents without a URL, and those about where an owner is called. */
export function inboxCalls(lines: Attending) {
  return {
    inbox: async ({ query }, { caller, signal }) => {
      const { wait, hold, limit } = query
      const options: TakeOptions = {
        ...(hold !== undefined && { hold }),
        ...(limit !== undefined && { limit }),
      }
      const take = (until: AbortSignal) =>
        caller.alarms.inbox.take({ ...options, ...(wait !== undefined && { wait }), signal: until })
      const wakes =
        wait === undefined
          ? await caller.alarms.inbox.take(options)
          : await whileItHolds(lines, caller, signal, take)
      return ok(
        `{"items":[${wakes.map(({ bodyJson, tries }) => withFields(bodyJson, { tries })).join(',')}]}`,
      )
    },

    ack: async ({ params, body }, { caller }) => {
      const { complete, fail, tries } = body
      const report: WakeReport = {
        ...(complete !== undefined && { complete }),
        ...(fail !== undefined && { fail }),
        ...(tries !== undefined && { tries }),
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
}

/** Waits no longer than the caller's key holds, nor when the server closes: a revoked key is handed nothing. */
async function whileItHolds<T>(
  lines: Attending,
  caller: Caller,
  signal: AbortSignal | undefined,
  wait: (until: AbortSignal) => Promise<T>,
): Promise<T> {
  const end = new AbortController()
  let isRevoked = false
  const leave = lines?.attend({
    caller,
    end: (why) => {
      isRevoked ||= why === 'revoked'
      end.abort()
    },
  })
  try {
    const answer = await wait(signal === undefined ? end.signal : AbortSignal.any([signal, end.signal]))
    if (!isRevoked) return answer
  } finally {
    leave?.()
  }
  throw new WakefulError('unauthorized', 'this key is not known, or no longer: it may be revoked or expired')
}
