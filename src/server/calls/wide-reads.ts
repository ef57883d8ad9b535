import { type AlarmView, ownedWireJson, type Story, wireJson } from '../../alarm/index.ts'
import { WakefulError } from '../../error.ts'
import type { AlarmRef, LocalReads } from '../../library/index.ts'
import type { Caller } from '../auth/index.ts'

/** Whose alarms a call asks for. */
export interface Across {
  readonly owner?: '*' | undefined
  readonly tenant?: '*' | undefined
}

/** The alarms that a call reads, and how it writes them. */
export interface Reader {
  readonly alarms: LocalReads
  readonly json: (alarm: AlarmView) => string
  readonly story: (story: Story) => Story
}

/** The caller's own alarms, or those of all owners or tenants. Throws if the caller may not read those. */
export function readerOf({ alarms, wide }: Caller, { owner, tenant }: Across): Reader {
  if (tenant !== undefined) {
    if (wide === undefined || wide.allTenants === null) throw new WakefulError('access.all_tenants', {})
    return { alarms: wide.allTenants(), json: ownedWireJson, story: asIs }
  }
  if (owner === undefined) return { alarms, json: wireJson, story: asIs }
  if (wide === undefined) throw new WakefulError('access.all_owners', {})
  return { alarms: wide.allOwners(), json: ownedWireJson, story: asIs }
}

/** The same for a call on one alarm. Who names it by its id need not know its owner; a key belongs to one owner. */
export function readerById(caller: Caller, alarm: AlarmRef, across: Across = {}): Reader {
  const byId = typeof alarm === 'string' ? (caller.wide?.byId ?? null) : null
  if (byId === null || across.owner !== undefined || across.tenant !== undefined)
    return readerOf(caller, across)
  const isOwn = ({ tenant, owner }: Pick<Story, 'tenant' | 'owner'>) =>
    tenant === caller.tenant && owner === caller.owner
  return {
    alarms: byId(),
    json: (alarm) => (isOwn(alarm) ? wireJson(alarm) : ownedWireJson(alarm)),
    story: (story) => {
      const { tenant, owner, ...own } = story
      return isOwn(story) ? own : story
    },
  }
}

function asIs(story: Story): Story {
  return story
}
