import { z } from 'zod'
import { wireJson } from '../../alarm/index.ts'
import { judged, whole, wireText } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import {
  type Alarms,
  type ListOptions,
  type ListPage,
  pagesOf,
  withoutUndefined,
} from '../../library/index.ts'
import { type HistoryStatus, pendingItem } from '../../seeds/index.ts'
import type { Caller } from '../auth/index.ts'

const LIST_MAX = 500
const max = whole(1, LIST_MAX, '').optional()
const cursor = judged({}).optional()

interface SeedCall {
  readonly args: z.ZodObject
  readonly work: (args: never, caller: Caller) => Promise<SeedResult>
}

/** The answer as JSON text, and the cursor of the next page if there is more. */
interface SeedResult {
  readonly json: string
  readonly nextCursor?: string | null
}

/** Defines a call; `work` is checked against the types of its arguments. */
function call<S extends z.ZodObject>(
  args: S,
  work: (args: z.output<S>, caller: Caller) => Promise<SeedResult>,
): SeedCall {
  return { args, work: work as SeedCall['work'] }
}

/** Seed 001's calls, with its arguments and shapes. An alarm in them looks as it does over REST. */
export const SEED_CALLS: Readonly<Record<string, SeedCall>> = {
  list: call(z.strictObject({ limit: max }), async ({ limit = LIST_MAX }, { alarms }) => {
    const due = await pendingOf(alarms, { status: 'active', order: 'due' }, limit)
    // Paused alarms are pending too, but not in the order of due times: they come last.
    const paused = await pendingOf(alarms, { status: 'paused' }, limit - due.length)
    return { json: JSON.stringify([...due, ...paused]) }
  }),

  count: call(z.strictObject({}), async (_args, { alarms }) => ({
    json: String((await alarms.stats()).pending),
  })),

  history: call(
    z.strictObject({
      status: judged<HistoryStatus>({}).optional(),
      target: judged({}).optional(),
      process: judged({}).optional(),
      since: judged<string | number>({}).optional(),
      limit: max,
      cursor,
    }),
    async ({ since: from, ...filter }, { alarms }) => {
      // A number is seconds since 1970, as in the seed.
      const since = typeof from === 'number' ? String(from) : from
      return listed(await alarms.historyPage(withoutUndefined({ ...filter, since })))
    },
  ),

  stats: call(z.strictObject({}), async (_args, { alarms }) => ({ json: wireText(await alarms.stats()) })),

  failed: call(z.strictObject({ limit: max, cursor }), async (args, { alarms }) =>
    listed(await alarms.failedPage(withoutUndefined(args))),
  ),

  get: call(z.strictObject({ id: judged({}) }), async ({ id }, { alarms }) => {
    const json = await alarms.wire(id)
    if (json === null) throw new WakefulError('alarm.not_found', { name: JSON.stringify(id) })
    return { json }
  }),
}

/** Pending alarms in the seed's list, up to a number: a few bytes each, however large the alarms are. */
async function pendingOf(alarms: Alarms, options: ListOptions, max: number) {
  const found: ReturnType<typeof pendingItem>[] = []
  for await (const { items } of pagesOf(alarms, options, max))
    for (const { id, nextFireAt, fireAt, createdAt } of items)
      found.push(pendingItem(id, nextFireAt ?? fireAt, createdAt))
  return found
}

function listed({ items, nextCursor }: ListPage): SeedResult {
  return { json: `[${items.map(wireJson).join(',')}]`, nextCursor }
}
