import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { addressClass, hostClass, isAddress, TransportFailure } from '../../targets/index.ts'

/** Thrown by a lookup that found no address which may be reached. */
export class Forbidden extends Error {
  override readonly name = 'Forbidden'
}

/** Asks for all addresses of a name, as `dns.lookup` does. */
export type LookupAll = (
  hostname: string,
  options: { readonly all: true; readonly family?: number; readonly hints?: number },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/**
 * A lookup that leaves out every address which is not public. What it answers is what the socket connects to: the name is
 * not asked for again, so that an answer which changes in between (rebinding) changes nothing.
 */
export function guardedLookup(lookupAll: LookupAll = systemLookup as LookupAll): LookupFunction {
  return (hostname, options, callback) => {
    const kind = hostClass(hostname)
    if (kind !== null) {
      callback(new Forbidden(kind), '')
      return
    }
    const asked = { ...options, all: true } as Parameters<LookupAll>[1]
    lookupAll(hostname, asked, (error, found) => {
      if (error !== null) {
        callback(error, '')
        return
      }
      const judged = found.filter(({ address }) => addressClass(address) === null)
      if (judged.length === 0) {
        callback(new Forbidden(found[0] === undefined ? 'unreadable' : addressClass(found[0].address)!), '')
      } else if (options.all === true) callback(null, judged)
      else callback(null, judged[0]!.address, judged[0]!.family)
    })
  }
}

/** Refuses a host that is an address itself: nothing is looked up for it, so the lookup would never see it. */
export function assertPublicHost(hostname: string, say: (kind: string) => string): void {
  const host = hostname.replace(/^\[|\]$/g, '')
  const kind = isAddress(host) ? addressClass(host) : hostClass(host)
  if (kind !== null) throw new TransportFailure('forbidden', say(kind))
}
