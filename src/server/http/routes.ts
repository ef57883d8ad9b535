import type { IncomingMessage } from 'node:http'
import { type Operation, type OperationName, operations } from '../../contracts/index.ts'

/** Which operation a request is for. */
export interface Route {
  readonly name: OperationName
  readonly operation: Operation
  readonly params: Readonly<Record<string, string>>
  readonly search: string
}

interface Pattern {
  readonly name: OperationName
  readonly operation: Operation
  /** A path's parts: a text, or null where anything may stand, under the name beside it. */
  readonly parts: readonly { readonly text: string | null; readonly name: string }[]
}

const NO_PARAMS: Readonly<Record<string, string>> = {}
const PATTERNS = Object.entries(operations).map(([name, operation]): Pattern => {
  const parts = operation.path.split('/').map((part) => {
    const named = /^\{(\w+)\}$/.exec(part)?.[1]
    return { text: named === undefined ? part : null, name: named ?? '' }
  })
  return { name: name as OperationName, operation, parts }
})
/** Paths without names are found at once. */
const PLAIN = new Map(
  PATTERNS.filter(({ parts }) => parts.every(({ text }) => text !== null)).map((pattern) => [
    `${pattern.operation.method} ${pattern.operation.path}`,
    pattern,
  ]),
)
const NAMED = PATTERNS.filter(({ parts }) => parts.some(({ text }) => text === null))

/** A Host that needs no second look, and a target that is its own path: no `..`, nothing that a URL would write otherwise. */
const HOST = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i
const TARGET = /^\/[\w/.~!$&'()*+,;=:@%-]*(?:\?[\x21\x24-\x3b\x3d\x3f-\x7e]*)?$/
const DOTTED = /\/\.{1,2}(?:\/|\?|$)|%2e/i
/** What may stand in a target at all; a backslash may not, which a URL would take for a slash. */
const WRITABLE = /^(?:\/|https?:\/\/)[\x21-\x5b\x5d-\x7e]*$/i

/** The operation that a request names; null where it names none, or does so in a way that is for others to judge. */
export function routeOf({ method, url = '', headers: { host } }: IncomingMessage): Route | null {
  if (host === undefined || !HOST.test(host)) return null
  const target = plainTarget(url)
  if (target === null) return null
  const at = target.indexOf('?')
  const path = at === -1 ? target : target.slice(0, at)
  const search = at === -1 ? '' : target.slice(at)
  if (method !== 'HEAD') return found(method, path, search)
  // Who asks for the head of an answer is answered like the others: Node leaves the body out.
  const route = found('GET', path, search)
  return route === null || leavesMarks(route.operation) ? null : route
}

/** Whether to ask is to take something: a wake, or a ticket. */
function leavesMarks({ rights, takesTicket }: Operation): boolean {
  return rights !== 'read' || takesTicket === true
}

function found(method: string | undefined, path: string, search: string): Route | null {
  const plain = PLAIN.get(`${method} ${path}`)
  if (plain !== undefined) return { name: plain.name, operation: plain.operation, params: NO_PARAMS, search }
  return namedRoute(method, path, search)
}

/** The target as path and query. As a whole URL, with dots, or with what should be escaped, it is read as a URL first. */
function plainTarget(url: string): string | null {
  if (TARGET.test(url) && !DOTTED.test(url)) return url
  if (!WRITABLE.test(url)) return null
  const whole = url.startsWith('/') ? `http://localhost${url}` : url
  if (!URL.canParse(whole)) return null
  const { pathname, search } = new URL(whole)
  return `${pathname}${search}`
}

function namedRoute(method: string | undefined, path: string, search: string): Route | null {
  const given = path.split('/')
  for (const { name, operation, parts } of NAMED) {
    if (operation.method !== method || parts.length !== given.length) continue
    const params = paramsOf(parts, given)
    if (params !== null) return { name, operation, params, search }
  }
  return null
}

function paramsOf(parts: Pattern['parts'], given: readonly string[]): Record<string, string> | null {
  const params: Record<string, string> = {}
  for (const [index, { text, name }] of parts.entries()) {
    const part = given[index]!
    if (text === null && part !== '') params[name] = decoded(part)
    else if (text !== part) return null
  }
  return params
}

/** What is not percent-encoded as it should be stands for itself. */
function decoded(part: string): string {
  if (!part.includes('%')) return part
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
