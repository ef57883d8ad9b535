import type { Command } from 'commander'
import { WakefulError } from '../../error.ts'
import type { BulkFilter, BulkResult } from '../../index.ts'
import { withoutUndefined } from '../../library/index.ts'
import { type KeyFlag, type LocalOrRemoteAlarms, type Session, withSession } from '../session/index.ts'
import type { CliContext } from '../terminal/index.ts'
import { count, counted, oneLine } from '../text/index.ts'

interface ManyFlags extends KeyFlag {
  readonly subject?: string
  readonly label?: string
  readonly all?: boolean
  readonly dryRun?: boolean
}

type ManyMethod = 'pauseMany' | 'resumeMany'

/** Adds the options that name many alarms instead of one. */
export function addManyOptions(command: Command): Command {
  return command
    .option('--subject <name>', 'all alarms of this subject, instead of an id')
    .option('--label <text>', 'all alarms with this label, instead of an id')
    .option('--all', 'all alarms of the owner, instead of an id')
    .option('--dry-run', 'only count the alarms that match')
}

/** The action of a command on the alarms that its options name, or else on one alarm. */
export function oneOrManyAction(
  cli: CliContext,
  method: ManyMethod,
  done: string,
  one: (...args: unknown[]) => Promise<void>,
) {
  return async (...args: unknown[]): Promise<void> => {
    const self = args.at(-1) as Command
    const flags = self.optsWithGlobals<ManyFlags>()
    const { subject, label, all = false, dryRun = false } = flags
    const isFiltered = subject !== undefined || label !== undefined
    const isNamed = self.args.length > 0 || flags.key !== undefined
    if ((isFiltered || all ? isNamed : dryRun) || (isFiltered && all))
      throw new WakefulError('cli.one_or_many', {})
    if (!isFiltered && !all) return one(...args)
    await withSession(cli, self, 'existing', (session) =>
      actOnMatching(session, method, withoutUndefined({ subject, label }), dryRun, done),
    )
  }
}

async function actOnMatching(
  { alarms, out }: Session,
  method: ManyMethod,
  filter: BulkFilter,
  dryRun: boolean,
  done: string,
): Promise<void> {
  const result = await resultOf(alarms, method, filter, dryRun)
  out.print(JSON.stringify(result), () => [
    dryRun ? `${counted(result.matched, 'alarm')} would be ${done}` : `${count(result.done)} ${done}`,
    ...result.refused.map(({ id, detail }) => `  not ${id}: ${oneLine(detail)}`),
    ...(result.more ? ['  more alarms match: run the command again'] : []),
  ])
}

function resultOf(
  alarms: LocalOrRemoteAlarms,
  method: ManyMethod,
  filter: BulkFilter,
  dryRun: boolean,
): Promise<BulkResult> {
  return alarms[method](filter, { dryRun })
}
