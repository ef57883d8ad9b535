import type { Command } from 'commander'
import { badUsage, notFound } from '../terminal/index.ts'
import type { AnyAlarms } from './session.ts'

/** How an alarm is named beside its id. */
export interface KeyFlag {
  readonly key?: string
}

const ID_LENGTH = 36
const PREFIX_LENGTH_MIN = 8
const PAGE = 500
/** So many pages are looked through for the beginning of an id. */
const PAGES_MAX = 100
const TOLD_MAX = 3

/** Adds the option that names an alarm by its key. */
export function addKeyOption(command: Command): Command {
  return command.option('--key <key>', 'the alarm with this key, instead of the id')
}

/** Refuses neither an id nor a key, and both: before a store is opened. */
export function assertNamed(id: string | undefined, { key }: KeyFlag): void {
  if ((id === undefined) === (key === undefined)) throw badUsage('give an id or --key')
}

/** The id of the alarm that was named: by its id, by the beginning of one, or by its key. */
export async function idOf(alarms: AnyAlarms, id: string | undefined, flags: KeyFlag): Promise<string> {
  assertNamed(id, flags)
  const { key } = flags
  if (key !== undefined) {
    const alarm = await alarms.getByKey(key)
    if (alarm === null) throw notFound(`with the key ${key}`)
    return alarm.id
  }
  return wholeId(alarms, id!)
}

/** Of the first word, which is the id unless a key was given, and the others. */
export function wordsBeside(id: string | undefined, words: readonly string[], { key }: KeyFlag) {
  if (key === undefined) return { id, words }
  return { id: undefined, words: id === undefined ? words : [id, ...words] }
}

/** The whole of an id of which the beginning is enough to know it; what is none is left as it is. */
export async function wholeId(alarms: AnyAlarms, id: string): Promise<string> {
  if (id.length < PREFIX_LENGTH_MIN || id.length >= ID_LENGTH || !/^[0-9a-f-]+$/i.test(id)) return id
  const found: string[] = []
  let cursor: string | null = null
  for (let page = 0; page < PAGES_MAX; page++) {
    const { items, nextCursor } = await alarms.list({ limit: PAGE, ...(cursor !== null && { cursor }) })
    found.push(...items.map((alarm) => alarm.id).filter((each) => each.startsWith(id.toLowerCase())))
    if (nextCursor === null) {
      if (found.length === 0) throw notFound(id)
      if (found.length === 1) return found[0]!
      const some = found.slice(0, TOLD_MAX).join(', ')
      throw badUsage(`'${id}' begins the ids of ${found.length} alarms (${some}): give more of it`)
    }
    cursor = nextCursor
  }
  throw badUsage(`there are too many alarms to look for '${id}': give the whole id`)
}
