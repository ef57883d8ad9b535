import type { Command } from 'commander'
import type { Scope } from '../../alarm/index.ts'
import { WakefulError } from '../../error.ts'
import type { AlarmReads } from '../../index.ts'
import type { Session } from './session.ts'

/** The options that read the alarms of others. */
export interface AcrossFlags {
  readonly allOwners?: true
  readonly allTenants?: true
}

/** Adds `--all-owners` and `--all-tenants`. */
export function addAcrossOptions(command: Command): Command {
  return command
    .option('--all-owners', 'the alarms of every owner of the tenant')
    .option('--all-tenants', 'the alarms of every tenant')
}

/** The alarms that the options ask for: those of `--tenant` and `--owner`, or of all owners or tenants. */
export function readsOf(session: Session, flags: AcrossFlags): AlarmReads {
  const { alarms, wide, globals } = session
  const { allOwners, allTenants } = flags
  if (allOwners === undefined && allTenants === undefined) return alarms
  const all = allTenants === true ? '--all-tenants' : '--all-owners'
  if (globals.owner !== undefined) throw new WakefulError('cli.all_and_one', { all }, { field: 'owner' })
  if (allTenants === true && globals.tenant !== undefined)
    throw new WakefulError('cli.all_and_one', { all }, { field: 'tenant' })
  return allTenants === true ? wide.allTenants() : wide.allOwners()
}

/** Whether it belongs to the tenant and owner of the session. A key's own are not known here, and not named by the server. */
export function isOwn({ wakeful, globals, hasKey }: Session, { tenant, owner }: Scope): boolean {
  const own = globals.tenant ?? (wakeful === null && hasKey ? '' : 'default')
  return tenant === own && owner === (globals.owner ?? '')
}

/**
 * Where an alarm is looked for by its id: among those of everybody, unless the options name somebody. With a key, the server
 * decides.
 */
export function readsById(session: Session, flags: AcrossFlags): AlarmReads {
  const { wide, hasKey, globals } = session
  const named = [globals.tenant, globals.owner, flags.allOwners, flags.allTenants]
  return hasKey || named.some((each) => each !== undefined) ? readsOf(session, flags) : wide.allTenants()
}
