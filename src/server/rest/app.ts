import { type Context, Hono } from 'hono'
import { type Operation, type OperationName, operations } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import type { Authenticator } from '../auth/index.ts'
import type { Calls } from '../calls/index.ts'
import { crossOrigin, refusal, requestId } from '../http/index.ts'
import type { Answered } from '../observability/index.ts'
import { answerOperation } from './answer-operation.ts'

/** What the HTTP side is made of. */
export interface AppParts {
  readonly authenticator: Authenticator
  readonly calls: Calls
  /** The origins whose pages may call. */
  readonly allowedOrigins: ReadonlySet<string>
  readonly bodyBytesMax: number
  /** Makes the id of a request that brings none. */
  readonly newRequestId: () => string
  readonly onAnswered: (answered: Answered, startedAt: number) => void
  readonly monotonic: () => number
}

/** The routes of every operation, and what is said of a path or a method that is not there. */
export function buildApp(parts: AppParts): Hono {
  const app = new Hono()
  // Where no page may call there is nothing to agree to.
  if (parts.allowedOrigins.size > 0) app.use(crossOrigin(parts.allowedOrigins, (c) => refuseOrigin(parts, c)))
  for (const [name, operation] of Object.entries(operations) as [OperationName, Operation][])
    app.on(operation.method, honoPath(operation.path), (c, next) =>
      c.req.method === 'HEAD' && leavesMarks(operation) ? next() : answerOperation(parts, c, name, operation),
    )
  for (const [path, methods] of methodsByPath())
    app.all(honoPath(path), (c) => refuseMethod(parts, c, path, methods))
  app.notFound((c) => {
    const thrown = new WakefulError(
      'not_found',
      `there is no call ${c.req.method} ${c.req.path.slice(0, 200)}; /openapi.json lists them, and /llms.txt the docs`,
    )
    return refused(parts, c, thrown, { route: 'unmatched', caller: null })
  })
  return app
}

/** Whether to ask is to take something, a wake or a ticket: who asks for a head takes nothing. */
function leavesMarks({ rights, takesTicket }: Operation): boolean {
  return rights !== 'read' || takesTicket === true
}

function refuseOrigin(parts: AppParts, c: Context): Response {
  const origin = JSON.stringify((c.req.raw.headers.get('origin') ?? '').slice(0, 100))
  const thrown = new WakefulError(
    'forbidden',
    `a page of ${origin} may not call this server: allowed_origins lists those that may`,
  )
  return refused(parts, c, thrown, { route: 'unmatched', caller: null })
}

function honoPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1')
}

function refused(
  parts: AppParts,
  c: Context,
  thrown: unknown,
  known: Pick<Answered, 'route' | 'caller'>,
  startedAt = parts.monotonic(),
  status?: number,
): Response {
  const id = requestId(c.req.raw.headers.get('x-request-id'), parts.newRequestId)
  const response = refusal(thrown, id, status)
  const isOurs = response.status >= 500
  parts.onAnswered(
    {
      method: c.req.method,
      status: response.status,
      requestId: id,
      ...known,
      thrown: isOurs ? thrown : null,
    },
    startedAt,
  )
  return response
}

function methodsByPath(): Map<string, string[]> {
  const methods = new Map<string, string[]>()
  for (const { path, method } of Object.values(operations))
    methods.set(path, [...(methods.get(path) ?? []), method])
  return methods
}

function refuseMethod(parts: AppParts, c: Context, path: string, methods: readonly string[]): Response {
  const thrown = new WakefulError('not_found', `${path} has no ${c.req.method}: it has ${methods.join(', ')}`)
  const response = refused(parts, c, thrown, { route: path, caller: null }, undefined, 405)
  response.headers.set('allow', methods.join(', '))
  return response
}
