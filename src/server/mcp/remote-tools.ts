import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/server'
import { RawJson } from '../../alarm/index.ts'
import { parseExact } from '../../contracts/index.ts'
import { type ErrorCode, errorText, WakefulError } from '../../error.ts'
import { STATUS_OF } from '../http/problem.ts'
import { refusalResult } from './refusal.ts'
import type { ToolBox } from './tool-box.ts'

/** A server whose tools are used from here. */
export interface Remote {
  /** Its address, without `/mcp`. */
  readonly url: string
  /** Sent with every request: the key, and whom a platform acts for. */
  readonly headers: Readonly<Record<string, string>>
}

const LIST_MS_MAX = 10_000

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
      return tools
    },
    call: async (name, args, { signal, traceparent }) => {
      const meta = traceparent === undefined ? {} : { _meta: { traceparent } }
      try {
        return await send<CallToolResult>(remote, 'tools/call', { name, arguments: args, ...meta }, signal)
      } catch (thrown) {
        if (thrown instanceof UnknownTool) return null
        return refusalResult(thrown)
      }
    },
  }
}

class UnknownTool extends Error {}

async function send<T>(remote: Remote, method: string, params: unknown, signal: AbortSignal): Promise<T> {
  const response = await posted(remote, jsonText({ jsonrpc: '2.0', id: 1, method, params }), signal)
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
    throw new WakefulError('store_unavailable', `no answer from ${url}: ${errorText(cause ?? thrown)}`, {
      cause: thrown,
    })
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

/** A value as JSON, with what was kept as text written as it is (promise: verbatim). */
function jsonText(value: unknown): string {
  if (value instanceof RawJson) return value.text
  if (Array.isArray(value)) return `[${value.map((item) => jsonText(item ?? null)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${jsonText(field)}`).join(',')}}`
}
