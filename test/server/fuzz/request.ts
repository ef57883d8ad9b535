import type { Random } from '../../random.ts'
import type { Endpoint } from './document.ts'
import { Making } from './making.ts'

/** A request as it is sent. */
export interface FuzzRequest {
  readonly method: string
  readonly target: string
  readonly headers: Record<string, string>
  readonly body: Buffer | null
}

/** Ids of what exists on the server, so that some requests find something. */
export interface Known {
  readonly alarms: string[]
  readonly occurrences: string[]
  readonly keys: string[]
  readonly cursors: string[]
}

/** Longer ones are rejected with the headers, before they reach an endpoint. */
const URL_TEXT_MAX = 1_000
const TENANTS = ['default', 'acme', 'paused', 'Ünï', '*', '__proto__']
const OWNERS = ['', 'ann', 'did:matrix:ann:f00', 'bob b', 'constructor']

/** A request for this endpoint: valid, nearly valid, or far from it. */
export function fuzzRequest(random: Random, endpoint: Endpoint, known: Known): FuzzRequest {
  const making = new Making(random, known)
  const wildness = random.weighted([
    [5, 0],
    [3, 0.1],
    [2, 0.4],
  ])
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const { schema } = endpoint.parameters.find((each) => each.in === 'path' && each.name === name)!
    return pathPart(random, making.text(schema, name, wildness))
  })
  const body =
    endpoint.body === null ? strayBody(random, wildness) : bodyOf(random, making, endpoint.body, wildness)
  const query = queryOf(random, making, endpoint, wildness)
  return {
    method: endpoint.method,
    target: path + query,
    headers: headersOf(random, making, endpoint, body, wildness),
    body,
  }
}

function pathPart(random: Random, value: string): string {
  // An empty part, or dots alone, would be another path.
  const text = value.replace(/^\.{0,2}$/, 'x')
  const encoded = encodeURIComponent(text.slice(0, URL_TEXT_MAX).toWellFormed())
  return random.chance(0.02)
    ? `${encoded}%${random.weighted([
        [1, '00'],
        [1, 'ff'],
        [1, ''],
        [1, 'c0%80'],
      ])}`
    : encoded
}

function queryOf(random: Random, making: Making, { parameters }: Endpoint, wildness: number): string {
  const parts: string[] = []
  for (const { name, schema } of parameters.filter((each) => each.in === 'query')) {
    if (!random.chance(0.25)) continue
    const text = making.text(schema, name, wildness).slice(0, URL_TEXT_MAX)
    const value = encodeURIComponent(text.toWellFormed())
    parts.push(`${name}=${value}`)
    if (random.chance(wildness / 5)) parts.push(`${name}=${value}`)
  }
  if (random.chance(wildness / 5))
    parts.push(`${encodeURIComponent(making.junkText().slice(0, URL_TEXT_MAX).toWellFormed())}=1`)
  if (random.chance(wildness / 10)) parts.push('%ff=%c0%80&&&===')
  return parts.length === 0 ? '' : `?${parts.join('&')}`
}

function bodyOf(random: Random, making: Making, schema: object, wildness: number): Buffer | null {
  if (random.chance(0.03)) return null
  const value = random.chance(wildness / 4) ? making.junk() : making.value(schema, '', wildness)
  const text = JSON.stringify(value) ?? 'null'
  return random.chance(wildness / 3) ? spoiled(random, text) : Buffer.from(text)
}

function spoiled(random: Random, text: string): Buffer {
  const at = random.between(0, text.length)
  return random.weighted<() => Buffer>([
    [2, () => Buffer.from(text.slice(0, at))],
    [
      2,
      () =>
        Buffer.from(
          text.slice(0, at) +
            random.weighted([
              [1, '"'],
              [1, '{'],
              [1, ','],
              [1, '\u0000'],
            ]) +
            text.slice(at),
        ),
    ],
    [1, () => Buffer.from(`\ufeff${text}`)],
    [1, () => Buffer.concat([Buffer.from(text), Buffer.from([0xff, 0xfe])])],
    [1, () => Buffer.from(text, 'utf16le')],
    [1, () => Buffer.from(text.replace('{', '{"__proto__":{"x":1},'))],
    [1, () => Buffer.from(text.replace('{', '{"a":1,"a":2,'))],
    [1, () => Buffer.from('['.repeat(10_000))],
    [1, () => Buffer.from(`${text} ${text}`)],
  ])()
}

function strayBody(random: Random, wildness: number): Buffer | null {
  return random.chance(wildness / 4) ? Buffer.from('{"stray":true}') : null
}

function headersOf(
  random: Random,
  making: Making,
  { parameters }: Endpoint,
  body: Buffer | null,
  wildness: number,
): Record<string, string> {
  const headers: Record<string, string> = {}
  const pick = (list: readonly string[]) => list[random.between(0, list.length - 1)]!
  if (body !== null)
    headers['content-type'] = random.chance(wildness / 4)
      ? pick([
          'text/plain',
          'application/x-www-form-urlencoded',
          'application/jsonx',
          ';',
          'multipart/form-data',
        ])
      : pick(['application/json', 'application/json; charset=utf-8', 'application/merge-patch+json'])
  if (random.chance(0.3)) headers['wakeful-tenant'] = encodeURIComponent(pick(TENANTS))
  if (random.chance(0.5)) headers['wakeful-owner'] = encodeURIComponent(pick(OWNERS))
  if (random.chance(wildness / 4))
    headers['wakeful-owner'] = pick(['%00', '%', '%ff', '%ed%a0%80', 'x'.repeat(600)])
  if (random.chance(wildness / 4)) headers['wakeful-tenant'] = pick(['%00', '%', '%ff', '', 'x'.repeat(600)])
  if (parameters.some((each) => each.name === 'If-Match') && random.chance(0.3))
    headers['if-match'] = pick(['*', '"2030-01-01T00:00:00.000Z"', 'W/"x"', '""', '"', making.asciiText()])
  if (random.chance(0.1)) headers['x-request-id'] = pick(['abc', 'a b', '"', 'wk_secret', 'x'.repeat(200)])
  if (random.chance(0.1))
    headers.traceparent = pick([`00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, '00-0-0-0', making.asciiText()])
  if (random.chance(wildness / 8)) headers.authorization = pick(['Bearer x', 'Basic eDp5', 'Bearer', ''])
  if (random.chance(wildness / 8)) headers.accept = pick(['text/html', '*/*;q=0', 'image/*'])
  if (random.chance(wildness / 8)) headers['x-http-method-override'] = 'DELETE'
  return headers
}
