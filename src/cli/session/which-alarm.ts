import type { Command } from 'commander'
import { WakefulError } from '../../error.ts'
import type { AlarmReads, AlarmView, ListOptions } from '../../index.ts'
import { type CliContext, notFound } from '../terminal/index.ts'
import type { AcrossFlags } from './across.ts'
import { type LocalOrRemoteAlarms, type Session, withSession } from './session.ts'

/** The option that names an alarm by its key, and those that look for it among the alarms of others. */
export interface KeyFlag extends AcrossFlags {
  readonly key?: string
}

const ID_LENGTH = 36
const PREFIX_LENGTH_MIN = 8
const PAGE = 500
/** Search for the prefix of an id in at most this many pages. */
const PAGES_MAX = 100
const LISTED_MAX = 3
const OWNERS_LISTED_MAX = 10

/** Adds `--key`. */
export function addKeyOption(command: Command): Command {
  return command.option('--key <key>', 'the alarm with this key, instead of an id')
}

/** Rejects both and neither of id and key. */
function assertNamed(id: string | undefined, { key }: KeyFlag): void {
  if ((id === undefined) === (key === undefined)) throw new WakefulError('alarm.which', {})
}

/**
 * The action of a command on the alarm that `--key` or the first argument names. All is checked before a session begins:
 * `prepare` reads the options and the other arguments, and returns the work. `searched` are the alarms among which the
 * prefix of an id is looked for: the caller's own by default.
 */
export function oneAlarmAction<Flags>(
  cli: CliContext,
  prepare: (flags: Flags, words: readonly string[]) => (session: Session, id: string) => Promise<void>,
  searched: (session: Session, flags: Flags) => Pick<AlarmReads, 'list'> = ({ alarms }) => alarms,
) {
  return async (...args: unknown[]): Promise<void> => {
    const command = args.at(-1) as Command
    const flags = command.optsWithGlobals<Flags & KeyFlag>()
    const isNamedByKey = flags.key !== undefined && command.registeredArguments.length > 1
    const id = isNamedByKey ? undefined : command.args[0]
    const words = isNamedByKey ? command.args : command.args.slice(1)
    assertNamed(id, flags)
    const work = prepare(flags, words)
    await withSession(cli, command, 'existing', async (session) =>
      work(session, await idOf(session.alarms, id, flags, searched(session, flags))),
    )
  }
}

/** The id of the alarm that the arguments name: by its id, a prefix of it, or its key. */
export async function idOf(
  alarms: LocalOrRemoteAlarms,
  id: string | undefined,
  flags: KeyFlag,
  searched: Pick<AlarmReads, 'list'> = alarms,
): Promise<string> {
  assertNamed(id, flags)
  const { key, allOwners, allTenants } = flags
  if (key === undefined) return wholeId(searched, id!)
  if (allOwners === true || allTenants === true) return idByKey(searched, key)
  const alarm = await alarms.getByKey(key)
  if (alarm === null) throw notFound(`with the key ${key}`)
  return alarm.id
}

/** The whole id for a prefix that is unique. Other texts are returned unchanged. */
export async function wholeId(alarms: Pick<AlarmReads, 'list'>, id: string): Promise<string> {
  if (id.length < PREFIX_LENGTH_MIN || id.length >= ID_LENGTH || !/^[0-9a-f-]+$/i.test(id)) return id
  const found = await matching(alarms, {}, (alarm) => alarm.id.startsWith(id.toLowerCase()))
  if (found === null) throw new WakefulError('cli.prefix_of_too_many', { name: id })
  if (found.length === 0) throw notFound(id)
  if (found.length === 1) return found[0]!.id
  const known = found.slice(0, LISTED_MAX).map((alarm) => alarm.id)
  throw new WakefulError('cli.prefix_of_several', { name: id, count: found.length, known })
}

/** The id of the only alarm with this key. Each owner may have one, so several are listed with their owners. */
async function idByKey(alarms: Pick<AlarmReads, 'list'>, key: string): Promise<string> {
  const found = await matching(alarms, { q: key }, (alarm) => alarm.key === key)
  if (found === null) throw new WakefulError('cli.prefix_of_too_many', { name: key })
  if (found.length === 0) throw notFound(`with the key ${key}`)
  if (found.length === 1) return found[0]!.id
  const named = found.map(({ id, tenant, owner }) => `${id} (owner '${owner}' of tenant '${tenant}')`)
  throw new WakefulError('cli.key_of_several', {
    key,
    count: found.length,
    known: named.slice(0, OWNERS_LISTED_MAX),
    more: Math.max(0, named.length - OWNERS_LISTED_MAX),
  })
}

/** The alarms that match, of all pages; null if there are too many pages. */
async function matching(
  alarms: Pick<AlarmReads, 'list'>,
  filter: ListOptions,
  matches: (alarm: AlarmView) => boolean,
): Promise<AlarmView[] | null> {
  const found: AlarmView[] = []
  let cursor: string | null = null
  for (let page = 0; page < PAGES_MAX; page++) {
    const { items, nextCursor } = await alarms.list({
      ...filter,
      limit: PAGE,
      ...(cursor !== null && { cursor }),
    })
    found.push(...items.filter(matches))
    if (nextCursor === null) return found
    cursor = nextCursor
  }
  return null
}
