import type { Context, Next } from 'hono'

const METHODS = 'GET, POST, PUT, PATCH, DELETE'
const REQUEST_HEADERS =
  'authorization, content-type, idempotency-key, if-match, last-event-id, mcp-method, mcp-name, mcp-protocol-version, traceparent, wakeful-owner, wakeful-tenant, x-request-id'
const ANSWER_HEADERS = 'etag, retry-after, x-request-id'
/** How long a browser may remember that it may ask. */
const REMEMBERED_SECONDS = 600

/**
 * Lets pages of the allowed origins call, and no others: a browser asks beforehand, and reads nothing of an answer that
 * does not name its origin. Cookies are never part of it.
 */
export function crossOrigin(
  allowedOrigins: ReadonlySet<string>,
  refuse: (c: Context) => Response,
): (c: Context, next: Next) => Promise<Response | undefined> {
  return async (c, next) => {
    const origin = c.req.raw.headers.get('origin')
    const isAllowed = origin !== null && allowedOrigins.has(origin)
    if (isPreflight(c)) {
      const response = isAllowed ? agreed(c) : refuse(c)
      return told(response, isAllowed ? origin : null)
    }
    await next()
    c.res = told(c.res, isAllowed ? origin : null)
    return undefined
  }
}

function isPreflight(c: Context): boolean {
  return c.req.method === 'OPTIONS' && c.req.raw.headers.has('access-control-request-method')
}

function agreed(c: Context): Response {
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': METHODS,
      'access-control-allow-headers': REQUEST_HEADERS,
      'access-control-max-age': String(REMEMBERED_SECONDS),
      // A page of the network asks to reach this machine: the origin was allowed by name.
      ...(c.req.raw.headers.has('access-control-request-private-network') && {
        'access-control-allow-private-network': 'true',
      }),
    },
  })
}

function told(response: Response, origin: string | null): Response {
  const headers = new Headers(response.headers)
  // Also where no page has asked: a cache could give this answer to one.
  headers.set('vary', 'origin')
  if (origin !== null) {
    headers.set('access-control-allow-origin', origin)
    headers.set('access-control-expose-headers', ANSWER_HEADERS)
  }
  return new Response(response.body, { status: response.status, headers })
}
