import type { Context, Next } from 'hono'

const METHODS = 'GET, POST, PUT, PATCH, DELETE'
const REQUEST_HEADERS =
  'authorization, content-type, idempotency-key, if-match, last-event-id, mcp-method, mcp-name, mcp-protocol-version, traceparent, wakeful-owner, wakeful-tenant, x-request-id'
const ANSWER_HEADERS = 'etag, retry-after, x-request-id'
/** How long a browser may cache the answer to a preflight. */
const MAX_AGE_SECONDS = 600

/**
 * Lets pages of the allowed origins call, and no others. A browser sends a preflight request first, and does not pass on
 * an answer that does not name the page's origin. Cookies are never allowed.
 */
export function crossOrigin(
  allowedOrigins: ReadonlySet<string>,
  refuse: (c: Context) => Response,
): (c: Context, next: Next) => Promise<void> {
  return async (c, next) => {
    const origin = c.req.raw.headers.get('origin')
    const isAllowed = origin !== null && allowedOrigins.has(origin)
    if (!isPreflight(c)) await next()
    else c.res = isAllowed ? preflightAnswer(c) : refuse(c)
    // Also for callers that are not pages: a cache could pass this answer on to one.
    c.header('vary', 'origin')
    if (!isAllowed) return
    c.header('access-control-allow-origin', origin)
    c.header('access-control-expose-headers', ANSWER_HEADERS)
  }
}

function isPreflight(c: Context): boolean {
  return c.req.method === 'OPTIONS' && c.req.raw.headers.has('access-control-request-method')
}

function preflightAnswer(c: Context): Response {
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': METHODS,
      'access-control-allow-headers': REQUEST_HEADERS,
      'access-control-max-age': String(MAX_AGE_SECONDS),
      // A public page wants to reach a private address. Its origin was allowed by name.
      ...(c.req.raw.headers.has('access-control-request-private-network') && {
        'access-control-allow-private-network': 'true',
      }),
    },
  })
}
