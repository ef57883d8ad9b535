import type { TargetSpec } from '../../alarm/index.ts'
import { type OperationName, withFields } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import { type TakeOptions, takeOf, type WakeReport } from '../../library/index.ts'
import type { Caller } from '../auth/index.ts'
import type { ConnectionLimiter, RequestQueue } from '../limits/index.ts'
import { type CallsOf, ok } from './call.ts'
import { inTurn } from './queued-calls.ts'

/** Who ends a wait; null where there are no keys, and nothing closes before its callers. */
type Attending = Pick<ConnectionLimiter, 'attend'> | null

/** The calls of agents without a URL, and those about where an owner is called. */
export function inboxCalls(lines: Attending, pages: RequestQueue | null) {
  return {
    inbox: async ({ query }, around) => {
      const { caller, signal } = around
      const { wait, hold, limit } = query
      const options: TakeOptions = {
        ...(hold !== undefined && { hold }),
        ...(limit !== undefined && { limit }),
      }
      const { inbox } = caller.alarms
      if (wait !== undefined) takeOf({ ...options, wait })
      // What is there already may be much; who waits keeps nobody else waiting.
      const now = () => inbox.take(options)
      const ready = pages === null ? await now() : await inTurn(pages, around, now)
      const wakes =
        wait === undefined || ready.length > 0
          ? ready
          : await whileItHolds(lines, caller, signal, (until) =>
              inbox.take({ ...options, wait, signal: until }),
            )
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
