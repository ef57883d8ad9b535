import { display, errorText, WakefulError } from '../errors/core.ts'
import { readJson, type Verbatim } from '../json/index.ts'
import type { ConnectOptions } from './api.ts'
import { errorOf } from './error.ts'
import { retryDelayMs, sleep } from './retry.ts'
import { type CallInput, ROUTES, type RouteName } from './routes.ts'

const TIMEOUT_MS = 30_000
const RETRIES = 2
/** More than any server allows for a payload, which is a few levels down in a response. */
const DEPTH_MAX = 2_000
const VERBATIM: Verbatim = {
  payload: true,
  data: true,
  items: { payload: true, data: true },
  alarm: { payload: true },
}
const PRINTABLE = /^[\x21-\x7e]+$/

/** The response of a call. */
export interface Answer {
  readonly status: number
  readonly text: string
}

interface Request {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  readonly timeoutMs: number
  readonly isRepeatable: boolean
}

/** Calls one server over HTTP, with retries. */
export class HttpTransport {
  readonly base: string
  readonly options: ConnectOptions
  readonly #headers: Readonly<Record<string, string>>

  constructor(url: string, options: ConnectOptions) {
    this.base = baseOf(url)
    this.options = options
    this.#headers = headersOf(options)
  }

  /** Makes a call and parses its response. Payloads stay text. */
  async json<N extends RouteName, T>(name: N, input: CallInput<N> = {}): Promise<T> {
    return this.read<T>((await this.call(name, input)).text)
  }

  /** Parses a response. Payloads stay text (promise: verbatim). */
  read<T>(text: string): T {
    try {
      return readJson(text, VERBATIM, { depthMax: DEPTH_MAX }) as T
    } catch (cause) {
      throw new WakefulError('client.not_json', { url: this.base }, { cause })
    }
  }

  /** Makes a call, and retries it if that is safe and may help. Throws the errors of the server. */
  async call<N extends RouteName>(name: N, input: CallInput<N> = {}): Promise<Answer> {
    const [method, pattern] = ROUTES[name].split(' ') as [string, string]
    const request: Request = {
      method,
      path: pathOf(pattern, input.params ?? {}) + queryOf(input.query ?? {}),
      headers: {
        ...(input.body !== undefined && { 'content-type': 'application/json' }),
        ...(input.seen !== undefined && { 'if-match': `"${input.seen}"` }),
        ...(input.traceparent !== undefined && { traceparent: traceText(input.traceparent) }),
      },
      body: input.body,
      timeoutMs: (this.options.timeoutMs ?? TIMEOUT_MS) + (input.waitMs ?? 0),
      isRepeatable: input.isRepeatable ?? (method === 'GET' || method === 'PUT' || method === 'DELETE'),
    }
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#attempt(request, attempt)
      if (answer === null) continue
      const { response, text } = answer
      if (response.ok) return { status: response.status, text }
      const retryMs = this.#retryMs(request, attempt, response)
      if (retryMs === null) throw errorOf(response.status, this.#clean(text), this.base)
      await sleep(retryMs, this.options.signal)
    }
  }

  /** Opens a stream. The timeout applies to its start only. */
  async open(
    path: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Response> {
    const waiting = new AbortController()
    const { timeoutMs = TIMEOUT_MS } = this.options
    const timer = setTimeout(() => waiting.abort(), timeoutMs)
    try {
      return await this.#fetch(path, { headers, signal: AbortSignal.any([signal, waiting.signal]) })
    } catch (thrown) {
      signal.throwIfAborted()
      throw this.#noAnswer(thrown, waiting.signal.aborted ? timeoutMs : null, true)
    } finally {
      clearTimeout(timer)
    }
  }

  /** One attempt; null if there was no response and it is to be retried. */
  async #attempt(request: Request, attempt: number): Promise<{ response: Response; text: string } | null> {
    const { signal } = this.options
    const timeout = AbortSignal.timeout(request.timeoutMs)
    try {
      const response = await this.#fetch(request.path, {
        method: request.method,
        headers: request.headers,
        ...(request.body !== undefined && { body: request.body }),
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      })
      return { response, text: await response.text() }
    } catch (thrown) {
      signal?.throwIfAborted()
      const retryMs = this.#retryMs(request, attempt, null)
      if (retryMs === null)
        throw this.#noAnswer(thrown, timeout.aborted ? request.timeoutMs : null, request.isRepeatable)
      await sleep(retryMs, signal)
      return null
    }
  }

  #retryMs({ isRepeatable }: Request, attempt: number, response: Response | null): number | null {
    return isRepeatable
      ? retryDelayMs(attempt, this.options.retries ?? RETRIES, response, Math.random())
      : null
  }

  #fetch(path: string, init: RequestInit): Promise<Response> {
    const call = this.options.fetch ?? ((url: string, request: RequestInit) => fetch(url, request))
    return call(this.base + path, {
      // The key must not go to another server.
      redirect: 'error',
      credentials: 'omit',
      cache: 'no-store',
      ...init,
      headers: { accept: 'application/json', ...this.#headers, ...init.headers },
    })
  }

  /** The error of a call without a response. A write that cannot be repeated may or may not have taken effect. */
  #noAnswer(thrown: unknown, timedOutAfterMs: number | null, isRepeatable: boolean): WakefulError {
    const detail =
      timedOutAfterMs === null ? this.#clean(reasonOf(thrown)) : `timed out after ${timedOutAfterMs} ms`
    const params = { url: this.base, detail, repeatable: isRepeatable }
    return new WakefulError('client.no_answer', params, { cause: thrown })
  }

  /** A text without the key, which is a secret and may be in the response of a proxy. */
  #clean(text: string): string {
    const { key } = this.options
    return key === undefined ? text : text.replaceAll(key, 'wk_…')
  }
}

/** The URL of the server, without a slash at the end. */
function baseOf(url: string): string {
  let parsed: URL
  try {
    parsed = new URL(url)
  } catch {
    throw new WakefulError('client.address', {})
  }
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')
    throw new WakefulError('client.address_protocol', { protocol: parsed.protocol })
  if (parsed.username !== '' || parsed.password !== '') throw new WakefulError('client.address_password', {})
  if (parsed.search !== '' || parsed.hash !== '') throw new WakefulError('client.address_query', {})
  return `${parsed.origin}${parsed.pathname.replace(/\/+$/, '')}`
}

function headersOf({ key, owner, tenant }: ConnectOptions): Record<string, string> {
  // Checked here, because the runtime would print the key in its error.
  if (key !== undefined && !PRINTABLE.test(key)) throw new WakefulError('client.key', {})
  return {
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...(owner !== undefined && owner !== '' && { 'wakeful-owner': headerText('owner', owner) }),
    ...(tenant !== undefined && tenant !== '' && { 'wakeful-tenant': headerText('tenant', tenant) }),
  }
}

/** A name for a header: percent-encoded if it is not ASCII, so that it arrives unchanged. */
function headerText(field: string, value: string): string {
  if (typeof value === 'string' && value.isWellFormed() && !value.includes('\0'))
    return value.replace(/[^\x21-\x24\x26-\x7e]+/g, encodeURIComponent)
  throw new WakefulError('field.malformed', { expected: 'a string of whole characters' }, { field })
}

function traceText(value: string): string {
  if (/^[\x21-\x7e]{1,512}$/.test(value)) return value
  const expected = 'a W3C trace context of version 00'
  throw new WakefulError('field.invalid', { expected, value: display(value) }, { field: 'traceparent' })
}

function pathOf(pattern: string, params: Readonly<Record<string, string>>): string {
  return pattern.replace(/\{(\w+)\}/g, (_, name: string) => segmentOf(name, params[name]))
}

function segmentOf(name: string, value: unknown): string {
  if (typeof value !== 'string' || value === '' || value.includes('\0') || !value.isWellFormed())
    throw new WakefulError('field.malformed', { expected: 'a string that is not empty' }, { field: name })
  // URLs drop these segments, even if they are encoded.
  if (value === '.' || value === '..')
    throw new WakefulError('client.not_in_address', { value: JSON.stringify(value) }, { field: name })
  return encodeURIComponent(value)
}

function queryOf(query: Readonly<Record<string, string | number | undefined>>): string {
  const present = Object.entries(query).filter(([, value]) => value !== undefined)
  return present.length === 0
    ? ''
    : `?${new URLSearchParams(present.map(([name, value]) => [name, String(value)]))}`
}

/** The error text of a failed `fetch`. Some runtimes have the reason in `cause`. */
function reasonOf(thrown: unknown): string {
  const { cause } = (thrown ?? {}) as { cause?: { code?: unknown; message?: unknown } }
  const inner = typeof cause?.code === 'string' ? cause.code : cause?.message
  return typeof inner === 'string' && inner !== '' ? `${errorText(thrown)}: ${inner}` : errorText(thrown)
}
