import type { CallToolResult } from '@modelcontextprotocol/server'
import type { ErrorCode } from '../../error.ts'
import { humanizeDuration } from '../../time/index.ts'
import { problemOf, TryLater } from '../http/index.ts'

/** What an agent can do about each refusal. */
const ADVICE: Readonly<Record<ErrorCode, string>> = {
  invalid_request: 'Change what is named above and call again.',
  invalid_time:
    'Say the time in another way, such as "in 20 minutes", "tomorrow at 9am" with a timezone, or fire_at "2030-01-01T09:00:00Z"; `preview` shows how it is read.',
  invalid_rule: 'Correct the rule; `preview` shows what it comes to without setting anything.',
  invalid_timezone: 'Use an IANA name such as "Europe/Rome", "America/New_York" or "UTC".',
  payload_too_large: 'Keep the data elsewhere and put a reference to it into the payload.',
  unauthorized: 'The key does not hold, or is missing: ask whoever runs the server for another.',
  forbidden: 'Ask whoever runs the server for a key that may do this.',
  not_found: '`list` shows what there is; only your own alarms can be seen, and ended ones for 30 days.',
  conflict: 'Read it again with `get`, decide anew, and call again with its updated_at.',
  already_ended: 'Nothing more can be done with this one: `why` tells how it ended, `set` makes another.',
  cursor_expired: 'Start again without a cursor.',
  quota_exceeded: 'Cancel what is no longer needed, or ask for less often.',
  rate_limited: 'Wait, then call again.',
  store_unavailable: 'Call again in some seconds; with an idempotency_key a repeated `set` is harmless.',
  schema_too_new: 'The server has to be upgraded by whoever runs it.',
  internal: 'This is the server’s own fault, and in its log: try once more later.',
}

/** What a tool has to say instead of that. */
export type Advice = Readonly<Partial<Record<ErrorCode, string>>>

/** A refusal as a tool's answer: the stable code, what was wrong, what to change, and the problem as JSON. */
export function refusalResult(
  thrown: unknown,
  toWhom: Parameters<typeof problemOf>[1] = 'callers',
  advice: Advice = {},
): CallToolResult {
  const problem = problemOf(thrown, toWhom)
  const wait =
    thrown instanceof TryLater
      ? ` Try again in ${humanizeDuration(Math.max(1000, thrown.retryAfterMs))}.`
      : ''
  return {
    isError: true,
    content: [
      {
        type: 'text',
        text: `${problem.code}: ${problem.detail}\n${advice[problem.code] ?? ADVICE[problem.code]}${wait}`,
      },
      { type: 'text', text: JSON.stringify(problem) },
    ],
  }
}

/** Whether a refusal is the server's own fault, so that whoever runs it should hear of it. */
export function isOurs(thrown: unknown): boolean {
  return problemOf(thrown).status >= 500
}
