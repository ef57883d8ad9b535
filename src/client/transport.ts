import type { z } from 'zod'
import type { OperationName, operations } from '../contracts/index.ts'
import { type ByKey, byKey, type OneAlarmCall, ROUTES } from '../contracts/routes.ts'
import { display, errorText, libraryField, typeName, WakefulError } from '../errors/core.ts'
import { type RawJson, readJson, type Verbatim } from '../json/index.ts'
import type { AlarmRef } from '../library/index.ts'
import type { ConnectOptions } from './api.ts'
import { errorOf } from './error.ts'
import { retryDelayMs, sleep } from './retry.ts'

const TIMEOUT_MS = 30_000
const RETRIES = 2
/** More than the nesting that a server allows in payloads, which are a few levels down in a response. */
const DEPTH_MAX = 2_000
/** The fields that users wrote: they are returned as text. */
const VERBATIM: Verbatim = {
  payload: true,
  data: true,
  items: { payload: true, data: true },
  alarm: { payload: true },
}
const PRINTABLE = /^[\x21-\x7e]+$/

type Operations = typeof operations
/** The names in a part of a call's contract, such as those of its query. */
type NamesIn<N extends OperationName, Part extends string> = Operations[N] extends {
  readonly [K in Part]: { readonly shape: infer S }
}
  ? keyof S & string
  : never

/** The input of a call, with the names of its contract. */
export interface CallInput<N extends OperationName> {
  readonly params?: { readonly [K in NamesIn<N, 'params'>]: string }
  readonly query?: { readonly [K in NamesIn<N, 'query'>]?: string | number | undefined }
  /** The body as JSON text. */
  readonly body?: string
  /** The version that an edit is based on. */
  readonly seen?: string
  /** The W3C trace context. */
  readonly traceparent?: string
  /** Added to the timeout. */
  readonly waitMs?: number
  /** Whether a write is safe to repeat. */
  readonly isRepeatable?: boolean
}

/** What `read` returns for a response of type T. */
type Parsed<T> = T extends readonly (infer Item)[]
  ? Parsed<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: K extends 'payload' | 'data' ? RawJson : Parsed<Exclude<T[K], undefined>> }
    : T

/** The response of a call by its contract, with what users wrote as text. */
export type Wire<N extends OperationName> = Operations[N]['answers'] extends infer Answers
  ? Answers[keyof Answers] extends { readonly schema: infer S extends z.ZodType }
    ? Parsed<z.output<S>>
    : never
  : never

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

  /** A copy whose calls this signal aborts as well. */
  withSignal(signal: AbortSignal | undefined): HttpTransport {
    if (signal === undefined) return this
    return new HttpTransport(this.base, { ...this.options, signal: anySignal(signal, this.options.signal) })
  }

  /** Makes a call and parses its response. Payloads stay text. */
  async json<N extends OperationName>(name: N, input: CallInput<N> = {}): Promise<Wire<N>> {
    return this.read<Wire<N>>((await this.call(name, input)).text)
  }

  /** Makes a call on one alarm, which its id or its key names. */
  callOnAlarm<N extends OneAlarmCall>(name: N, alarm: AlarmRef, input: CallInput<N> = {}) {
    if (typeof alarm !== 'object' || alarm === null)
      return this.call<OneAlarmCall>(name, { ...input, params: { id: alarm } })
    return this.call<ByKey<OneAlarmCall>>(byKey(name), { ...input, params: { key: alarm.key } })
  }

  /** The same, with its response parsed. */
  async jsonOnAlarm<N extends OneAlarmCall>(
    name: N,
    alarm: AlarmRef,
    input: CallInput<N> = {},
  ): Promise<Wire<N>> {
    return this.read<Wire<N>>((await this.callOnAlarm(name, alarm, input)).text)
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
  async call<N extends OperationName>(name: N, input: CallInput<N> = {}) {
    const [method, pattern] = ROUTES[name].split(' ') as [string, string]
    const { params = {}, query = {}, body, seen, traceparent, waitMs = 0 } = input
    const { isRepeatable = method === 'GET' || method === 'PUT' || method === 'DELETE' } = input
    const { signal, retries = RETRIES } = this.options
    const timeoutMs = (this.options.timeoutMs ?? TIMEOUT_MS) + waitMs
    const path = pathOf(pattern, params) + queryOf(query)
    const headers = {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(seen !== undefined && { 'if-match': `"${seen}"` }),
      ...(traceparent !== undefined && { traceparent: checkedTraceparent(traceparent) }),
    }
    const request = { method, headers, ...(body !== undefined && { body }) }
    for (let attempt = 1; ; attempt++) {
      const timeout = AbortSignal.timeout(timeoutMs)
      const answer = await this.#attempt(path, { ...request, signal: anySignal(timeout, signal) })
      const { response } = answer
      if (response?.ok === true) return { status: response.status, text: answer.text }
      const retryMs = isRepeatable ? retryDelayMs(attempt, retries, response, Math.random()) : null
      if (retryMs === null) {
        if (response !== null) throw errorOf(response.status, this.#withoutKey(answer.text), this.base)
        throw this.#noAnswer(answer.thrown, timeout.aborted ? timeoutMs : null, isRepeatable)
      }
      await sleep(retryMs, signal)
    }
  }

  /** One attempt, whose response is null if none came. */
  async #attempt(path: string, request: RequestInit) {
    try {
      const response = await this.#fetch(path, request)
      return { response, text: await response.text() }
    } catch (thrown) {
      this.options.signal?.throwIfAborted()
      return { response: null, text: '', thrown }
    }
  }

  /** Opens a stream. The timeout applies to its start only. */
  async open(path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal) {
    const waiting = new AbortController()
    const { timeoutMs = TIMEOUT_MS, signal: callerSignal } = this.options
    const timer = setTimeout(() => waiting.abort(), timeoutMs)
    try {
      return await this.#fetch(path, { headers, signal: anySignal(signal, waiting.signal, callerSignal) })
    } catch (thrown) {
      callerSignal?.throwIfAborted()
      throw this.#noAnswer(thrown, waiting.signal.aborted ? timeoutMs : null, true)
    } finally {
      clearTimeout(timer)
    }
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
    const at = { url: this.base, repeatable: isRepeatable }
    return timedOutAfterMs === null
      ? new WakefulError(
          'client.no_answer',
          { ...at, cause: this.#withoutKey(reasonOf(thrown)) },
          { cause: thrown },
        )
      : new WakefulError('client.timed_out', { ...at, ms: timedOutAfterMs }, { cause: thrown })
  }

  /** Removes the key, which is a secret: a proxy may repeat it in its response. */
  #withoutKey(text: string): string {
    const { key } = this.options
    return key === undefined ? text : text.replaceAll(key, 'wk_…')
  }
}

function anySignal(...signals: readonly (AbortSignal | undefined)[]): AbortSignal {
  return AbortSignal.any(signals.filter((signal) => signal !== undefined))
}

/** The URL of the server, without a slash at the end. */
function baseOf(url: string): string {
  let parsed: URL
  try {
    parsed = new URL(url)
  } catch {
    throw new WakefulError('client.address', {}, { field: 'url' })
  }
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')
    throw new WakefulError('client.address_protocol', { protocol: parsed.protocol }, { field: 'url' })
  if (parsed.username !== '' || parsed.password !== '')
    throw new WakefulError('client.address_password', {}, { field: 'url' })
  if (parsed.search !== '' || parsed.hash !== '')
    throw new WakefulError('client.address_query', {}, { field: 'url' })
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

/** The value of a header, percent-encoded where it is not ASCII, so that it arrives unchanged. */
function headerText(field: string, value: string): string {
  if (typeof value === 'string' && value.isWellFormed() && !value.includes('\0'))
    return value.replace(/[^\x21-\x24\x26-\x7e]+/g, encodeURIComponent)
  throw new WakefulError('field.malformed', { expected: 'a string of whole characters' }, { field })
}

function checkedTraceparent(value: string): string {
  if (/^[\x21-\x7e]{1,512}$/.test(value)) return value
  const expected = 'a W3C trace context of version 00'
  throw new WakefulError('field.invalid', { expected, value: display(value) }, { field: 'traceparent' })
}

function pathOf(pattern: string, params: Readonly<Record<string, string>>): string {
  return pattern.replace(/\{(\w+)\}/g, (_, name: string) => segmentOf(name, params[name]))
}

function segmentOf(name: string, value: unknown): string {
  const field = libraryField(name)
  if (typeof value !== 'string')
    throw new WakefulError('field.invalid', { expected: 'a string', value: typeName(value) }, { field })
  if (value === '') throw new WakefulError('field.empty', {}, { field })
  if (value.includes('\0')) throw new WakefulError('field.nul_character', {}, { field })
  if (!value.isWellFormed()) throw new WakefulError('field.lone_surrogate', {}, { field })
  // URLs drop these segments, even if they are encoded.
  if (value === '.' || value === '..')
    throw new WakefulError('client.not_in_address', { value: JSON.stringify(value) }, { field })
  return encodeURIComponent(value)
}

function queryOf(query: object): string {
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
