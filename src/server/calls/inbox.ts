import { type OperationName, withFields } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import { type TakeOptions, takeOf, withoutUndefined } from '../../library/index.ts'
import type { Caller } from '../auth/index.ts'
import type { ConnectionLimiter, RequestQueue } from '../limits/index.ts'
import { type CallsOf, ok } from './call.ts'

/**
 * The calls of agents without a URL, and those about an owner's default target. Without a server there are no
 * connections to limit and no queue.
 */
export function inboxCalls(connections: ConnectionLimiter | null, pages: RequestQueue | null) {
  return {
    inbox: async ({ query }, context) => {
      const { caller, signal } = context
      const { wait, ...rest } = query
      const options: TakeOptions = withoutUndefined(rest)
      const { inbox } = caller.alarms
      if (wait !== undefined) takeOf({ ...options, wait })
      // What is there may be a page. A call that waits must not keep others waiting, so it is not in the queue.
      const now = () => inbox.take(options)
      const ready = pages === null ? await now() : await pages.run(caller, context, now)
      const wakes =
        wait === undefined || ready.length > 0
          ? ready
          : await whileValid(connections, caller, signal, (until) =>
              inbox.take({ ...options, wait, signal: until }),
            )
      return ok(
        `{"items":[${wakes.map(({ bodyJson, tries }) => withFields(bodyJson, { tries })).join(',')}]}`,
      )
    },

    ack: async ({ params, body }, { caller }) => {
      await caller.alarms.inbox.ack(params.occurrence_id, withoutUndefined(body))
      return ok('{"acknowledged":true}')
    },

    getOwnerTarget: async (_input, { caller }) => {
      const target = await caller.alarms.defaultTarget.get()
      if (target === null) throw new WakefulError('target.no_default', {})
      return ok(JSON.stringify({ target }))
    },

    putOwnerTarget: async ({ body }, { caller }) =>
      ok(JSON.stringify({ target: await caller.alarms.defaultTarget.put(body.target) })),

    removeOwnerTarget: async (_input, { caller }) =>
      ok(JSON.stringify({ removed: await caller.alarms.defaultTarget.remove() })),
  } satisfies Partial<CallsOf<OperationName>>
}

/** Waits until the caller's key is revoked or the server closes, at the longest. A revoked key receives nothing. */
async function whileValid<T>(
  connections: ConnectionLimiter | null,
  caller: Caller,
  signal: AbortSignal | undefined,
  wait: (until: AbortSignal) => Promise<T>,
): Promise<T> {
  const end = new AbortController()
  let isRevoked = false
  const remove = connections?.addWaiting({
    caller,
    end: (reason) => {
      isRevoked ||= reason === 'revoked'
      end.abort()
    },
  })
  try {
    const answer = await wait(signal === undefined ? end.signal : AbortSignal.any([signal, end.signal]))
    if (!isRevoked) return answer
  } finally {
    remove?.()
  }
  throw new WakefulError('access.key_unknown', {})
}
