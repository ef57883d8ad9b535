import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { addressClass, DeliveryFailure, hostClass } from '../../targets/index.ts'

/** The error if a name has no address that webhooks may reach. */
function forbidden(kind: string): DeliveryFailure {
  const how = 'the operator can allow them with WAKEFUL_ALLOW_PRIVATE_TARGETS=1'
  return new DeliveryFailure(`webhooks cannot reach ${kind} addresses; ${how}`, { final: true })
}

/** Looks up all addresses of a name, as `dns.lookup` does. */
export type LookupAll = (
  hostname: string,
  options: { readonly all: true; readonly family?: number; readonly hints?: number },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/**
 * A lookup that returns only public addresses. The socket connects to its result without another lookup, so a name whose
 * address changes in between (DNS rebinding) has no effect.
 */
export function guardedLookup(lookupAll: LookupAll = systemLookup as LookupAll): LookupFunction {
  return (hostname, options, callback) => {
    const kind = hostClass(hostname)
    if (kind !== null) {
      callback(forbidden(kind), '')
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
        callback(forbidden(found[0] === undefined ? 'unreadable' : addressClass(found[0].address)!), '')
      } else if (options.all === true) callback(null, judged)
      else callback(null, judged[0]!.address, judged[0]!.family)
    })
  }
}

/** Rejects a host that is itself an address. Those are not looked up, so the lookup cannot check them. */
export function assertPublicHost(hostname: string): void {
  const kind = hostClass(hostname)
  if (kind !== null) throw forbidden(kind)
}
