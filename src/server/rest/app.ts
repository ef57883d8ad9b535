import { type Context, Hono } from 'hono'
import { type Operation, type OperationName, operations } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import type { Clock } from '../../time/index.ts'
import type { Authenticator } from '../auth/index.ts'
import type { Calls } from '../calls/index.ts'
import { crossOrigin, headersOf, refusal, requestId } from '../http/index.ts'
import type { Answered } from '../observability/index.ts'
import { operationHandler } from './operation-handler.ts'

/** What every HTTP interface is made of. */
export interface AppParts {
  readonly authenticator: Authenticator
  readonly calls: Calls
  /** The origins whose pages may call. */
  readonly allowedOrigins: ReadonlySet<string>
  readonly bodyBytesMax: number
  /** Makes the id of a request that has none. */
  readonly newRequestId: () => string
  readonly clock: Pick<Clock, 'monotonic'>
  readonly onAnswered: (answered: Answered, startedAt: number) => void
}

/** A route for every operation, and the answers to unknown paths and methods. */
export function buildApp(parts: AppParts): Hono {
  const app = new Hono()
  if (parts.allowedOrigins.size > 0) app.use(crossOrigin(parts.allowedOrigins, (c) => refuseOrigin(parts, c)))
  for (const [name, operation] of Object.entries(operations) as [OperationName, Operation][])
    app.on(operation.method, honoPath(operation.path), operationHandler(parts, name, operation))
  for (const [path, methods] of methodsByPath())
    app.all(honoPath(path), (c) => refuseMethod(parts, c, path, methods))
  app.notFound((c) => {
    const thrown = new WakefulError('request.no_such_call', {
      call: `${c.req.method} ${c.req.path.slice(0, 200)}`,
    })
    return refuse(parts, c, thrown, 'unmatched')
  })
  return app
}

function refuseOrigin(parts: AppParts, c: Context): Response {
  const origin = JSON.stringify((c.req.raw.headers.get('origin') ?? '').slice(0, 100))
  const thrown = new WakefulError('access.origin', { origin })
  return refuse(parts, c, thrown, 'unmatched')
}

function honoPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1')
}

function methodsByPath(): Map<string, string[]> {
  const methods = new Map<string, string[]>()
  for (const { path, method } of Object.values(operations))
    methods.set(path, [...(methods.get(path) ?? []), method])
  return methods
}

function refuseMethod(parts: AppParts, c: Context, path: string, methods: readonly string[]): Response {
  const thrown = new WakefulError('request.no_such_method', { path, method: c.req.method, methods })
  const response = refuse(parts, c, thrown, path, 405)
  response.headers.set('allow', methods.join(', '))
  return response
}

/** Answers a request that reaches no operation. */
function refuse(parts: AppParts, c: Context, thrown: WakefulError, route: string, status?: number): Response {
  const id = requestId(headersOf(c), parts.newRequestId)
  const response = refusal(thrown, id, status)
  parts.onAnswered(
    { method: c.req.method, route, status: response.status, requestId: id, caller: null, thrown: null },
    parts.clock.monotonic(),
  )
  return response
}
