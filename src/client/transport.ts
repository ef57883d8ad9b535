import { display, errorText, WakefulError } from '../errors/core.ts'
import { readJson, type Verbatim } from '../json/index.ts'
import type { ConnectOptions } from './api.ts'
import { errorOf } from './error.ts'
import { retryDelayMs, sleep } from './retry.ts'
import { type CallInput, ROUTES, type RouteName } from './routes.ts'

const TIMEOUT_MS = 30_000
const RETRIES = 2
/** A payload may be nested as deep as its server lets it, and stands a few levels down in an answer. */
const DEPTH_MAX = 2_000
const VERBATIM: Verbatim = {
  payload: true,
  data: true,
  items: { payload: true, data: true },
  alarm: { payload: true },
}
const PRINTABLE = /^[\x21-\x7e]+$/

/** What a call was answered with. */
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

/** The way to one server: its address, who calls, and how long and how often it is tried. */
export class HttpTransport {
  readonly base: string
  readonly options: ConnectOptions
  readonly #headers: Readonly<Record<string, string>>

  constructor(url: string, options: ConnectOptions) {
    this.base = baseOf(url)
    this.options = options
    this.#headers = headersOf(options)
  }

  /** Makes a call and reads its answer as JSON, what users wrote kept as text. */
  async json<N extends RouteName, T>(name: N, given: CallInput<N> = {}): Promise<T> {
    return this.read<T>((await this.call(name, given)).text)
  }

  /** An answer's JSON, what users wrote kept as text (promise: verbatim). */
  read<T>(text: string): T {
    try {
      return readJson(text, VERBATIM, { depthMax: DEPTH_MAX }) as T
    } catch (cause) {
      throw new WakefulError('client.not_json', { url: this.base }, { cause })
    }
  }

  /** Makes a call, again where that is safe and may help; throws what the server refuses. */
  async call<N extends RouteName>(name: N, given: CallInput<N> = {}): Promise<Answer> {
    const [method, pattern] = ROUTES[name].split(' ') as [string, string]
    const request: Request = {
      method,
      path: pathOf(pattern, given.params ?? {}) + queryOf(given.query ?? {}),
      headers: {
        ...(given.body !== undefined && { 'content-type': 'application/json' }),
        ...(given.seen !== undefined && { 'if-match': `"${given.seen}"` }),
        ...(given.traceparent !== undefined && { traceparent: traceText(given.traceparent) }),
      },
      body: given.body,
      timeoutMs: (this.options.timeoutMs ?? TIMEOUT_MS) + (given.waitMs ?? 0),
      isRepeatable: given.isRepeatable ?? (method === 'GET' || method === 'PUT' || method === 'DELETE'),
    }
    for (let tries = 1; ; tries++) {
      const answer = await this.#try(request, tries)
      if (answer === null) continue
      const { response, text } = answer
      if (response.ok) return { status: response.status, text }
      const repeatMs = this.#repeatMs(request, tries, response)
      if (repeatMs === null) throw errorOf(response.status, this.#clean(text), this.base)
      await sleep(repeatMs, this.options.signal)
    }
  }

  /** Opens a stream of the answer's lines; the bound on time is that of its beginning. */
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
      throw this.#silence(thrown, waiting.signal.aborted ? timeoutMs : null, true)
    } finally {
      clearTimeout(timer)
    }
  }

  /** One try; null where there was no answer and it is to be tried again. */
  async #try(request: Request, tries: number): Promise<{ response: Response; text: string } | null> {
    const { signal } = this.options
    const late = AbortSignal.timeout(request.timeoutMs)
    try {
      const response = await this.#fetch(request.path, {
        method: request.method,
        headers: request.headers,
        ...(request.body !== undefined && { body: request.body }),
        signal: signal === undefined ? late : AbortSignal.any([signal, late]),
      })
      return { response, text: await response.text() }
    } catch (thrown) {
      signal?.throwIfAborted()
      const repeatMs = this.#repeatMs(request, tries, null)
      if (repeatMs === null)
        throw this.#silence(thrown, late.aborted ? request.timeoutMs : null, request.isRepeatable)
      await sleep(repeatMs, signal)
      return null
    }
  }

  #repeatMs({ isRepeatable }: Request, tries: number, answer: Response | null): number | null {
    return isRepeatable ? retryDelayMs(tries, this.options.retries ?? RETRIES, answer, Math.random()) : null
  }

  #fetch(path: string, init: RequestInit): Promise<Response> {
    const call = this.options.fetch ?? ((url: string, given: RequestInit) => fetch(url, given))
    return call(this.base + path, {
      // A key is for the server it was given for, and for no other.
      redirect: 'error',
      credentials: 'omit',
      cache: 'no-store',
      ...init,
      headers: { accept: 'application/json', ...this.#headers, ...init.headers },
    })
  }

  /** No answer: of a write that cannot be repeated, it is unknown whether it took effect. */
  #silence(thrown: unknown, lateMs: number | null, isRepeatable: boolean): WakefulError {
    const detail = lateMs === null ? this.#clean(reasonOf(thrown)) : `timed out after ${lateMs} ms`
    const params = { url: this.base, detail, repeatable: isRepeatable }
    return new WakefulError('client.no_answer', params, { cause: thrown })
  }

  /** A text without the key, which is a secret: a proxy may repeat what it was sent. */
  #clean(text: string): string {
    const { key } = this.options
    return key === undefined ? text : text.replaceAll(key, 'wk_…')
  }
}

/** The address as the paths follow it. */
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
  // Checked here: whoever else finds it wrong would show it.
  if (key !== undefined && !PRINTABLE.test(key)) throw new WakefulError('client.key', {})
  return {
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...(owner !== undefined && owner !== '' && { 'wakeful-owner': headerText('owner', owner) }),
    ...(tenant !== undefined && tenant !== '' && { 'wakeful-tenant': headerText('tenant', tenant) }),
  }
}

/** A name that goes into a header must come out of it as it was: beyond ASCII it is percent-encoded. */
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
  // A path forgets these, however they are written.
  if (value === '.' || value === '..')
    throw new WakefulError('client.not_in_address', { value: JSON.stringify(value) }, { field: name })
  return encodeURIComponent(value)
}

function queryOf(query: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
}

/** What a runtime says of a call that came to nothing; some say the reason one level down. */
function reasonOf(thrown: unknown): string {
  const { cause } = (thrown ?? {}) as { cause?: { code?: unknown; message?: unknown } }
  const inner = typeof cause?.code === 'string' ? cause.code : cause?.message
  return typeof inner === 'string' && inner !== '' ? `${errorText(thrown)}: ${inner}` : errorText(thrown)
}
