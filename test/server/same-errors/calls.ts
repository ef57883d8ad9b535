import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { connect } from '../../../src/client/index.ts'
import { fromWire, libraryField } from '../../../src/errors/index.ts'
import { WakefulError } from '../../../src/index.ts'
import { serving } from '../harness.ts'
import { httpAgent } from '../mcp/agents.ts'
import { connected } from '../ws-client.ts'

const dir = mkdtempSync(join(tmpdir(), 'wakeful-same-errors-'))
// The WebSocket makes all of the calls within a few seconds.
const server = await serving({
  store: `sqlite:${join(dir, 'alarms.db')}`,
  server: { live: { messagesPerSecond: 1_000 } },
})
afterAll(() => rmSync(dir, { recursive: true }))
const { wakeful, url } = server
export const { call, errors, lines } = server
export const own = wakeful.forTenant('default')
export const client = connect(url)
export const ws = await connected(url)
export const agent = await httpAgent(url)

const LIVING = await own.set({ delay: '1h' }, { target: { event: true } })
export const { id } = LIVING

type Json = Readonly<Record<string, unknown>>

/** What is compared of an error, with the names of the library. */
interface Found {
  readonly code: unknown
  readonly reason: unknown
  readonly params: Json
  readonly field?: string | undefined
}

// biome-ignore lint/suspicious/noExplicitAny: the calls are wrong on purpose.
export type Wrong = any

/** A call of the library, of the client, or of another interface that answers with a problem document. */
export type Made = () => unknown

/** One wrong call through every interface that has it. */
export interface Case {
  readonly title: string
  readonly reason: string
  /** Of the error, in the names of the library. */
  readonly field?: string
  readonly library: Made
  readonly client: Made
  readonly rest: readonly [method: string, path: string, body?: unknown]
  readonly ws: readonly [call: string, args: Json]
  readonly mcp?: readonly [tool: string, args: Json]
  /** Parameters that differ between the library and the network, and why. */
  readonly differs?: Differs
}

/** A deliberate difference: parameters that are not compared, and the reason. */
interface Differs {
  readonly params: readonly string[]
  readonly because: string
}

export const OWN_NAMES: Differs = {
  params: ['fields'],
  because:
    'the list of known names is that of the interface: over the network, a time and its options stand beside the rest',
}
export const SHARED_BOUNDS: Differs = {
  params: ['min', 'max'],
  because:
    'callers who share a server have tighter bounds: faster and more retries would be at the cost of others',
}

export const TARGET = { target: { event: true } }
const WIRE_NAMES: Readonly<Record<string, string>> = { cron: 'cron_expr', message: 'wake_message' }

/** A name as JSON has it. */
function wireName(name: string): string {
  return WIRE_NAMES[name] ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** The body of a call, as somebody would write it by hand. */
export function bodyOf(when: Wrong, options: Wrong): Json {
  const { backoff, ...rest } = options
  const time =
    when === undefined
      ? {}
      : typeof when === 'string'
        ? { when }
        : typeof when !== 'object' || when === null
          ? { fire_at: when }
          : Object.fromEntries(
              Object.entries(when).map(([name, value]) => [
                name === 'at' ? (typeof value === 'string' ? 'when' : 'fire_at') : wireName(name),
                value,
              ]),
            )
  const named = (fields: Json) =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [wireName(name), value]))
  const isObject = typeof backoff === 'object' && backoff !== null && !Array.isArray(backoff)
  return {
    ...time,
    ...named(rest),
    ...(backoff !== undefined && { backoff: isObject ? named(backoff) : backoff }),
  }
}

type Options = Partial<Pick<Case, 'field' | 'differs'>> & { readonly mcp?: false; readonly title?: string }

/** A wrong `set`. Options have a target unless they name one. */
export function set(reason: string, when: Wrong, options: Wrong = {}, more: Options = {}): Case {
  const all = 'target' in options ? options : { ...TARGET, ...options }
  const body = bodyOf(when, all)
  return {
    title: more.title ?? `set(${short(when)}, ${short(options)})`,
    reason,
    ...(more.field !== undefined && { field: more.field }),
    ...(more.differs !== undefined && { differs: more.differs }),
    library: () => own.set(when, all),
    client: () => client.set(when, all),
    rest: ['POST', '/v1/alarms', body],
    ws: ['set', body],
    ...(more.mcp !== false && { mcp: ['set', body] as const }),
  }
}

/** A wrong option of `set`; the field of its error is the option. */
export const option = (name: string, value: unknown, reason: string, more: Options = {}): Case =>
  set(reason, { delay: '1h' }, { [name]: value }, { field: name, ...more })

/** A wrong time. */
export const time = (when: Wrong, reason: string, field?: string, more: Options = {}): Case =>
  set(reason, when, {}, { ...(field !== undefined && { field }), ...more })

/** A wrong `edit`; `reschedule` of the agents is the same call. */
export function edit(fields: Wrong, reason: string, field?: string, more: Options = {}): Case {
  const { when, timezone, ...options } = fields
  const zone = timezone === undefined ? {} : { timezone }
  const body = { ...bodyOf(when, options), ...zone }
  return {
    title: `edit(${short(fields)})`,
    reason,
    ...(field !== undefined && { field }),
    ...(more.differs !== undefined && { differs: more.differs }),
    library: () => own.edit(id, fields),
    client: () => client.edit(id, fields),
    rest: ['PATCH', `/v1/alarms/${id}`, body],
    ws: ['edit', { id, ...body }],
    ...(more.mcp !== false && { mcp: ['reschedule', { id, ...body }] as const }),
  }
}

export function reschedule(when: Wrong, reason: string, field?: string): Case {
  return {
    ...edit({ when }, reason, field),
    title: `reschedule(${short(when)})`,
    library: () => own.reschedule(id, when),
    client: () => client.reschedule(id, when),
  }
}

/** A batch whose second item is wrong. */
export function second(when: Wrong, options: Wrong, reason: string, field: string, more: Options = {}): Case {
  const items: Wrong[] = [
    { when: { delay: '1h' }, ...TARGET },
    { when, ...TARGET, ...options },
  ]
  const bodies = items.map(({ when: each, ...rest }) => bodyOf(each, rest))
  return {
    title: `setMany([…, ${short({ when, ...options })}])`,
    reason,
    field,
    ...(more.differs !== undefined && { differs: more.differs }),
    library: () => own.setMany(items),
    client: () => client.setMany(items),
    rest: ['POST', '/v1/alarms/batch', { items: bodies }],
    ws: ['setMany', { items: bodies }],
  }
}

export function preview(when: Wrong, reason: string, field?: string): Case {
  const body = bodyOf(when, {})
  return {
    title: `preview(${short(when)})`,
    reason,
    ...(field !== undefined && { field }),
    library: () => own.preview(when),
    client: () => client.preview(when),
    rest: ['POST', '/v1/preview', body],
    ws: ['preview', body],
    mcp: ['preview', body],
  }
}

/** A wrong filter of a list; `alarms` is what the WebSocket calls it. */
export function list(options: Wrong, reason: string, field?: string): Case {
  const wire = bodyOf(undefined, options)
  return {
    title: `list(${short(options)})`,
    reason,
    ...(field !== undefined && { field }),
    library: () => own.list(options),
    client: () => client.list(options),
    rest: ['GET', `/v1/alarms?${query(wire)}`],
    ws: ['alarms', wire],
    mcp: ['list', wire],
  }
}

export function history(options: Wrong, reason: string, field?: string): Case {
  return {
    title: `historyPage(${short(options)})`,
    reason,
    ...(field !== undefined && { field }),
    library: () => own.historyPage(options),
    client: () => client.historyPage(options),
    rest: ['GET', `/v1/history?${query(options)}`],
    ws: ['history', options],
  }
}

function query(fields: Json): URLSearchParams {
  return new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)]))
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined'
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}

/** The error of a call of the library, or of the client. */
export async function thrownBy(made: Made): Promise<Found> {
  try {
    await made()
  } catch (thrown) {
    if (!(thrown instanceof WakefulError)) throw thrown
    const { code, reason, params, field } = thrown
    return { code, reason, params, field }
  }
  throw new Error('the call was not refused')
}

/** A problem document, with the names of the library. */
export function inProblem(problem: Json): Found {
  const error = fromWire(problem)
  if (error === null) throw new Error(`no problem: ${JSON.stringify(problem)}`)
  const { reason, params, field } = error
  // An unknown name is a parameter, as the caller wrote it.
  const name = reason === 'field.unknown' ? { name: libraryField(String(params.name)) } : {}
  return { code: problem.code, reason, params: { ...params, ...name }, field }
}

export function compared({ params, ...error }: Found, leftOut: readonly string[] = []): Found {
  return {
    ...error,
    params: Object.fromEntries(Object.entries(params).filter(([name]) => !leftOut.includes(name))),
  }
}
