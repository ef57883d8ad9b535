import type { Alarms } from '../library/index.ts'
import type { Caller } from './caller.ts'
import type { Door } from './http/app.ts'
import { assertLocal } from './http/local-guard.ts'

/** Who may be named per request, and how. */
export const TENANT_HEADER = 'wakeful-tenant'
export const OWNER_HEADER = 'wakeful-owner'

const LOCAL_TENANT = 'default'

/** Lets everybody on this machine in, as the local tenant: there are no keys. */
export function localDoor(
  forTenant: (tenant: string, owner: string) => Alarms,
  allowedOrigins: ReadonlySet<string>,
): Door {
  return {
    admit(headers: Headers, via: string): Caller {
      assertLocal(headers, allowedOrigins)
      const tenant = headers.get(TENANT_HEADER) ?? LOCAL_TENANT
      const owner = headers.get(OWNER_HEADER) ?? ''
      return { tenant, owner, rights: 'admin', keyId: null, via, alarms: forTenant(tenant, owner) }
    },
  }
}
