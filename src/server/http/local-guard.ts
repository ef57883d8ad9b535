import { WakefulError } from '../../error.ts'
import type { HeaderReader } from './request.ts'

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i

/** Headers that proxies add. */
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
/** A page of this server, or no page. Other ports of this machine count as the same site. */
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none'])

/** Whether only this machine can reach an address. */
export function isLoopback(host: string): boolean {
  return host === '::1' || LOOPBACK.test(host)
}

/**
 * A server without keys is protected only by being unreachable from other machines. A page in the user's browser can reach it:
 * through a DNS name that points here (so the Host must be this machine's), or across origins (so the Origin must be ours).
 */
export function assertLocal(
  headers: HeaderReader,
  allowedOrigins: ReadonlySet<string>,
  allowedHosts: ReadonlySet<string>,
): void {
  const host = headers.get('host')
  if (host === null || !(LOOPBACK.test(host) || allowedHosts.has(host)))
    throw new WakefulError('access.not_local', { host: JSON.stringify((host ?? '').slice(0, 100)) })
  // A proxy on this machine may forward calls from anywhere.
  const proxied = allowedHosts.has(host) ? undefined : PROXIED.find((name) => headers.get(name) !== null)
  if (proxied !== undefined) throw new WakefulError('access.proxied', { header: proxied })
  const origin = headers.get('origin')
  if (origin !== null && !isOwnOrigin(origin, host) && !allowedOrigins.has(origin))
    throw new WakefulError('access.origin', { origin: JSON.stringify(origin.slice(0, 100)) })
  const site = headers.get('sec-fetch-site')
  if (origin === null && site !== null && !OWN_SITES.has(site))
    throw new WakefulError('access.other_site', {})
}

/** Whether a page's origin is this server, by the name it was called by. */
export function isOwnOrigin(origin: string, host: string): boolean {
  return origin === `http://${host}` || origin === `https://${host}`
}
