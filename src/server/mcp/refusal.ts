import type { CallToolResult } from '@modelcontextprotocol/server'
import { type ErrorCode, WakefulError } from '../../error.ts'
import { humanizeDuration } from '../../time/index.ts'
import { problemOf } from '../http/index.ts'

/** What an agent can do about each refusal. */
const ADVICE: Readonly<Record<ErrorCode, string>> = {
  invalid_request: 'Correct what is named above and call again.',
  invalid_time:
    'Write the time in another way, such as "in 20 minutes", "tomorrow at 9am" with a timezone, or fire_at "2030-01-01T09:00:00Z"; `preview` shows how it is read.',
  invalid_rule: 'Correct the rule; `preview` shows its instants without setting anything.',
  invalid_timezone: 'Use an IANA name such as "Europe/Rome", "America/New_York" or "UTC".',
  payload_too_large: 'Store the data elsewhere and put a reference to it into the payload.',
  unauthorized: 'The key is missing or invalid: ask the operator of the server for another.',
  forbidden: 'Ask the operator of the server for a key that may do this.',
  not_found: '`list` shows your alarms; you see only your own, and ended ones for 30 days.',
  conflict: 'Read it again with `get`, decide again, and call again with its updated_at.',
  already_ended: 'It cannot be changed any more: `why` shows how it ended, `set` creates another.',
  cursor_expired: 'Start again without a cursor.',
  quota_exceeded: 'Cancel alarms that are no longer needed, or set fewer.',
  rate_limited: 'Wait, then call again.',
  store_unavailable: 'Call again in a few seconds; with an idempotency_key a repeated `set` is harmless.',
  schema_too_new: 'The operator has to upgrade the server.',
  internal: 'This is an error of the server, which has logged it. Try once more later.',
}

/** What a tool has to say instead of that. */
export type Advice = Readonly<Partial<Record<ErrorCode, string>>>

/** A refusal as a tool's answer: the stable code, what was wrong, what to change, and the problem as JSON. */
export function refusalResult(
  thrown: unknown,
  audience: Parameters<typeof problemOf>[1] = 'callers',
  advice: Advice = {},
): CallToolResult {
  const problem = problemOf(thrown, audience, 'mcp')
  const retryAfterMs = thrown instanceof WakefulError ? thrown.retryAfterMs : undefined
  const wait =
    retryAfterMs === undefined ? '' : ` Try again in ${humanizeDuration(Math.max(1000, retryAfterMs))}.`
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

/** Whether an error is the server's own fault, so that its operator should know of it. */
export function isOurs(thrown: unknown): boolean {
  return problemOf(thrown).status >= 500
}
