import { z } from 'zod'
import { type AlarmView, wireJson } from '../../alarm/index.ts'
import { plain, wireText } from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import type { Alarms, ListOptions, ListPage } from '../../library/index.ts'
import type { Caller } from '../auth/index.ts'
import { defined } from '../calls/index.ts'

const LIST_MAX = 500

interface SeedCall {
  readonly args: z.ZodObject
  readonly work: (args: never, caller: Caller) => Promise<SeedResult>
}

/** What it answers with, as JSON text; where there is more of it than one answer holds, where that begins. */
interface SeedResult {
  readonly json: string
  readonly nextCursor?: string | null
}

/** A call with its arguments' types kept between its two halves. */
function call<S extends z.ZodObject>(
  args: S,
  work: (args: z.output<S>, caller: Caller) => Promise<SeedResult>,
): SeedCall {
  return { args, work: work as SeedCall['work'] }
}

const limit = z.int().min(1).max(LIST_MAX).optional()
const cursor = plain().min(1).max(200).optional()
/** Seconds since 1970, as the seed has it, or whatever REST takes. */
const since = z.union([z.number().min(0).max(1e12), plain().min(1).max(200)]).optional()
const status = z.enum([
  'pending',
  'fired',
  'completed',
  'failed',
  'cancelled',
  'timed_out',
  'timeout_unknown',
])

/** Seed 001's calls, with its arguments and shapes; an alarm in them is as it is over REST. */
export const SEED_CALLS: Readonly<Record<string, SeedCall>> = {
  list: call(z.strictObject({ limit }), async ({ limit: most = LIST_MAX }, { alarms }) => {
    const due = await pendingOf(alarms, { status: 'active', order: 'due' }, most)
    // A paused one is pending too, and due nowhere: it stands behind the others.
    const paused = await pendingOf(alarms, { status: 'paused' }, most - due.length)
    return { json: JSON.stringify([...due, ...paused]) }
  }),

  count: call(z.strictObject({}), async (_args, { alarms }) => ({
    json: String((await alarms.stats()).pending),
  })),

  history: call(
    z.strictObject({
      status: status.optional(),
      target: plain().max(4_096).optional(),
      process: plain().max(4_096).optional(),
      since,
      limit,
      cursor,
    }),
    async ({ since: from, ...filter }, { alarms }) => {
      const since = from === undefined ? {} : { since: String(from) }
      return listed(await alarms.historyPage({ ...defined(filter), ...since }))
    },
  ),

  stats: call(z.strictObject({}), async (_args, { alarms }) => ({ json: wireText(await alarms.stats()) })),

  failed: call(z.strictObject({ limit, cursor }), async (args, { alarms }) =>
    listed(await alarms.failedPage(defined(args))),
  ),

  get: call(z.strictObject({ id: plain().min(1).max(200) }), async ({ id }, { alarms }) => {
    const json = await alarms.wire(id)
    if (json === null) throw new WakefulError('alarm.not_found', { name: JSON.stringify(id) })
    return { json }
  }),
}

/** Pending alarms as the seed lists them, up to so many: few bytes each, however large a page of them is. */
async function pendingOf(alarms: Alarms, options: ListOptions, most: number) {
  const found: ReturnType<typeof pending>[] = []
  let after: { cursor?: string } | null = {}
  while (after !== null && found.length < most) {
    const page: ListPage = await alarms.list({ ...options, ...after, limit: most - found.length })
    found.push(...page.items.map(pending))
    after = page.nextCursor === null ? null : { cursor: page.nextCursor }
  }
  return found
}

/** A pending alarm as the seed lists it: when it fires, and how long after it was set. A paused one may have no instant. */
function pending({ id, nextFireAt, fireAt, createdAt }: AlarmView) {
  const at = nextFireAt ?? fireAt
  if (at === null) return { id, set_at: null, time_offset: null }
  const setAt = seconds(at)
  return { id, set_at: setAt, time_offset: setAt - seconds(createdAt) }
}

function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1_000)
}

function listed({ items, nextCursor }: ListPage): SeedResult {
  return { json: `[${items.map(wireJson).join(',')}]`, nextCursor }
}
