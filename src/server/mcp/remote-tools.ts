import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/server'
import { type ErrorCode, errorText, WakefulError } from '../../error.ts'
import { RawJson } from '../../json/index.ts'
import { parseExact } from '../../library/index.ts'
import { STATUS_OF, TryLater } from '../http/index.ts'
import { refusalResult } from './refusal.ts'
import { namingZone, type ToolBox } from './tool-box.ts'

/** A server whose tools are used from here. */
export interface Remote {
  /** Its address, without `/mcp`. */
  readonly url: string
  /** Sent with every request: the key, and whom a platform acts for. */
  readonly headers: Readonly<Record<string, string>>
  /** The zone in which the one who sits here means a time that names none; the server would take it for UTC. */
  readonly zone: string
}

const LIST_MS_MAX = 10_000
const TRY_AGAIN_MS = 5_000

/** The tools of a server, for a client that only speaks stdio: each call is one request to its `/mcp`. */
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
        return await send<CallToolResult>(remote, 'tools/call', params, signal)
      } catch (thrown) {
        if (thrown instanceof UnknownTool) return null
        // What this process itself ran into is told to whoever started it.
        return refusalResult(thrown, 'operators')
      }
    },
  }
}

/** Tools that take a new time, and the ways to say one that a zone belongs to; an alarm that is moved has its own. */
const TIMED: ReadonlySet<string> = new Set(['set', 'preview'])
const BY_THE_CLOCK = ['when', 'fire_at', 'cron_expr'] as const

function zoned(name: string, args: unknown, zone: string): unknown {
  if (!TIMED.has(name) || typeof args !== 'object' || args === null || 'timezone' in args) return args
  return BY_THE_CLOCK.some((field) => field in args) ? { ...args, timezone: zone } : args
}

class UnknownTool extends Error {}

async function send<T>(remote: Remote, method: string, params: unknown, signal: AbortSignal): Promise<T> {
  const response = await posted(remote, messageText({ jsonrpc: '2.0', id: 1, method, params }), signal)
  const answer = answerOf(await response.text(), remote)
  if (answer.result !== undefined) return answer.result as T
  if (isKnown(answer.code)) throw new WakefulError(answer.code, answer.detail ?? answer.code)
  const { message } = answer.error ?? {}
  if (method === 'tools/call' && message?.includes('there is no tool') === true)
    throw new UnknownTool(message)
  throw new WakefulError('internal', `the server answered ${response.status}: ${message ?? 'nothing of use'}`)
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
    const why = errorText(cause ?? thrown)
    throw new TryLater('store_unavailable', `no answer from ${url}: ${why}`, TRY_AGAIN_MS)
  }
}

interface Answer {
  readonly result?: unknown
  readonly error?: { readonly message?: string }
  /** Of a problem: the request did not get as far as the protocol. */
  readonly code?: string
  readonly detail?: string
}

function answerOf(text: string, { url }: Remote): Answer {
  try {
    const answer = parseExact(text)
    if (typeof answer === 'object' && answer !== null) return answer
  } catch {
    // Told below.
  }
  throw new WakefulError('store_unavailable', `what answers at ${url} is no Wakeful server`)
}

function isKnown(code: string | undefined): code is ErrorCode {
  return code !== undefined && Object.hasOwn(STATUS_OF, code)
}

/** A message as JSON, with what was kept as text written as it is, however deep (promise: verbatim). */
function messageText(value: unknown): string {
  if (value instanceof RawJson) return value.text
  if (Array.isArray(value)) return `[${value.map((item) => messageText(item ?? null)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${messageText(field)}`).join(',')}}`
}
