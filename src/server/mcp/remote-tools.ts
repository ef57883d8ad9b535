import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/server'
import { errorText, WakefulError } from '../../error.ts'
import { fromWire, isErrorCode } from '../../errors/index.ts'
import { parseExact } from '../../json/index.ts'
import { nowText } from './alarm-text.ts'
import { exactText, refusalResult } from './tool.ts'
import { namingZone, type ToolBox, UNKNOWN_TOOL } from './tool-box.ts'

/** The server that runs the tools. */
export interface Remote {
  /** Its URL, without `/mcp`. */
  readonly url: string
  /** Sent with every request: the key, and the tenant and owner that a platform acts for. */
  readonly headers: Readonly<Record<string, string>>
  /** The zone of times that name none. The server would read them in UTC. */
  readonly zone: string
}

const LIST_MS_MAX = 10_000
const TRY_AGAIN_MS = 5_000

/** The tools of a server, for a client that only supports stdio: each call is one request to `/mcp`. */
export function remoteTools(remote: Remote): ToolBox {
  return {
    list: async () => {
      const { tools } = await send<{ tools: ListedTool[] }>(
        remote,
        'tools/list',
        {},
        AbortSignal.timeout(LIST_MS_MAX),
      )
      return namingZone(tools, remote.zone)
    },
    call: async (name, args, { signal, traceparent }) => {
      const meta = traceparent === undefined ? {} : { _meta: { traceparent } }
      try {
        const params = { name, arguments: zoned(name, args, remote.zone), ...meta }
        return inZone(await send<CallToolResult>(remote, 'tools/call', params, signal), remote.zone)
      } catch (thrown) {
        if (thrown instanceof UnknownTool) return null
        // The error is this process's own, so its operator may see all of it.
        return refusalResult(thrown, 'operators')
      }
    },
  }
}

/** Tools that take a new time, and the time fields that need a zone. An alarm that is rescheduled has its own. */
const TIMED: ReadonlySet<string> = new Set(['set', 'preview'])
const BY_THE_CLOCK = ['when', 'fire_at', 'cron_expr'] as const

function zoned(name: string, args: unknown, zone: string): unknown {
  if (!TIMED.has(name) || typeof args !== 'object' || args === null || 'timezone' in args) return args
  return BY_THE_CLOCK.some((field) => field in args) ? { ...args, timezone: zone } : args
}

/** The current time in the text of a list, which the server writes in UTC. */
const NOW = /^It is now \w+ (\d{4}-\d\d-\d\d) ([\d:]+) UTC\./

function inZone(result: CallToolResult, zone: string): CallToolResult {
  const [first, ...rest] = result.content
  if (first?.type !== 'text' || result.isError === true) return result
  const text = first.text.replace(NOW, (_, date: string, time: string) =>
    nowText(Date.parse(`${date}T${time}Z`), zone),
  )
  return { ...result, content: [{ ...first, text }, ...rest] }
}

class UnknownTool extends Error {}

async function send<T>(remote: Remote, method: string, params: unknown, signal: AbortSignal): Promise<T> {
  const response = await posted(remote, exactText({ jsonrpc: '2.0', id: 1, method, params }), signal)
  const answer = answerOf(await response.text(), remote)
  if (answer.result !== undefined) return answer.result as T
  const refused = fromWire(answer)
  if (refused !== null && isErrorCode(answer.code))
    throw WakefulError.from({ ...refused, code: answer.code, message: String(answer.detail) })
  const { message, data } = answer.error ?? {}
  if (data?.reason === UNKNOWN_TOOL) throw new UnknownTool(message)
  throw new WakefulError('remote.unexpected', { status: response.status, cause: message ?? '' })
}

async function posted({ url, headers }: Remote, body: string, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(new URL('mcp', url.endsWith('/') ? url : `${url}/`), {
      method: 'POST',
      redirect: 'error',
      signal,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body,
    })
  } catch (thrown) {
    const { cause } = thrown as { cause?: unknown }
    const params = { url, cause: errorText(cause ?? thrown), repeatable: true }
    throw new WakefulError('client.no_answer', params, { retryAfterMs: TRY_AGAIN_MS })
  }
}

interface Answer {
  readonly result?: unknown
  readonly error?: { readonly message?: string; readonly data?: { readonly reason?: unknown } }
  /** Of a problem document: the request was refused before it reached the protocol. */
  readonly code?: string
  readonly detail?: string
}

function answerOf(text: string, { url }: Remote): Answer {
  try {
    const answer = parseExact(text)
    if (typeof answer === 'object' && answer !== null) return answer
  } catch {
    // Reported below.
  }
  throw new WakefulError('client.not_json', { url }, { code: 'store_unavailable' })
}
