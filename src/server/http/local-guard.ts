import { WakefulError } from '../../error.ts'
import type { HeaderReader } from './node-request.ts'

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i

/** What a proxy tells of whom it calls for, or of itself. */
export const PROXIED: readonly string[] = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-prefix',
  'x-forwarded-proto',
  'x-forwarded-scheme',
  'x-forwarded-server',
  'x-forwarded-ssl',
  'x-original-forwarded-for',
  'x-real-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'cf-ray',
  'cdn-loop',
  'fastly-client-ip',
  'fly-client-ip',
  'x-envoy-external-address',
]
/** A page of this server, or no page at all. Other ports of this machine are the same site. */
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none'])

/** Whether an address is one that only this machine can reach. */
export function isLoopback(host: string): boolean {
  return host === '::1' || LOOPBACK.test(host)
}

/**
 * On a server without keys the only protection is that nobody else can reach it. A page in the user's browser can: by a
 * name that it lets point here (so the Host must be this machine's), or by sending from elsewhere (so the Origin must be ours).
 */
export function assertLocal(
  headers: HeaderReader,
  allowedOrigins: ReadonlySet<string>,
  allowedHosts: ReadonlySet<string>,
): void {
  const host = headers.get('host')
  if (host === null || !(LOOPBACK.test(host) || allowedHosts.has(host)))
    throw new WakefulError(
      'forbidden',
      `without keys only this machine may call: the Host must be localhost or 127.0.0.1, not ${JSON.stringify((host ?? '').slice(0, 100))}; 'wakeful keys create' makes a key`,
    )
  // A proxy on this machine calls from it, whoever called the proxy.
  const proxied = allowedHosts.has(host) ? undefined : PROXIED.find((name) => headers.get(name) !== null)
  if (proxied !== undefined)
    throw new WakefulError(
      'forbidden',
      `without keys only this machine may call, and this came through a proxy (it has ${proxied}): 'wakeful keys create' makes a key`,
    )
  const origin = headers.get('origin')
  if (origin !== null && !isOwnOrigin(origin, host) && !allowedOrigins.has(origin))
    throw new WakefulError(
      'forbidden',
      `a page of ${JSON.stringify(origin.slice(0, 100))} may not call this server: allowed_origins lists those that may`,
    )
  const site = headers.get('sec-fetch-site')
  if (origin === null && site !== null && !OWN_SITES.has(site))
    throw new WakefulError('forbidden', 'a page of another site or port may not call this server')
}

/** Whether a page's origin is this server itself, by the name it was called by. */
export function isOwnOrigin(origin: string, host: string): boolean {
  return origin === `http://${host}` || origin === `https://${host}`
}
