import type { AlarmView } from '../alarm/index.ts'
import type { AlarmReads, ListPage, StatsView } from '../library/index.ts'
import { type AlarmWire, camelNames, ruleOfPreview } from './alarm-view.ts'
import type { RemoteAlarms } from './api.ts'
import { bodyText, ruleWhen, sinceText, whenFields, wireNames } from './body.ts'
import { orNull } from './error.ts'
import { type Across, newestCursor, readEvents } from './follow.ts'
import type { CallInput, HttpTransport } from './transport.ts'

/** The default page sizes of a server. */
const HISTORY_DEFAULT = 50
const LIST_MAX = 500
const FAILED_DEFAULT = 20

type Paged = 'list' | 'history' | 'failed'

/** The reads across owners or tenants. */
export function readsAcross(
  transport: HttpTransport,
  view: (wire: AlarmWire) => AlarmView,
  across: Across,
): AlarmReads {
  const { preview: _, parse: __, getByKey: ___, ...reads } = alarmReads(transport, view, across)
  return {
    ...reads,
    events: (options = {}) => readEvents(transport, options, across),
    newest: () => newestCursor(transport, across),
  }
}

/** The calls that read alarms, and times. */
export function alarmReads(
  transport: HttpTransport,
  view: (wire: AlarmWire) => AlarmView,
  across: Across = {},
) {
  const page = async <N extends Paged>(
    name: N,
    query: NonNullable<CallInput<N>['query']>,
  ): Promise<ListPage> => {
    const { items, next_cursor } = await transport.json<Paged>(name, { query: { ...query, ...across } })
    return { items: items.map(view), nextCursor: next_cursor }
  }

  const historyPage: RemoteAlarms['historyPage'] = async ({ since, ...rest } = {}) =>
    page('history', { ...rest, since: since && sinceText(since) })

  const failedPage: RemoteAlarms['failedPage'] = (options = {}) => page('failed', { ...options })

  const preview: RemoteAlarms['preview'] = async (when, options = {}) => {
    const { from, count, timezone = transport.options.timezone } = options
    const fields = {
      ...whenFields(ruleWhen(when), timezone),
      from: from && sinceText(from, 'from'),
      instants: count,
    }
    const answer = await transport.json('preview', { body: bodyText(fields), isRepeatable: true })
    return { ...answer, rule: ruleOfPreview(answer.rule) }
  }

  const parse: RemoteAlarms['parse'] = async (text, timezone) => {
    const parsed = await preview(text, { count: 1, ...(timezone !== undefined && { timezone }) })
    const { rule, instants } = parsed
    const note = instants[0]?.note
    const shared = { timezone: parsed.timezone, notes: note === undefined ? [] : [note] }
    return rule.kind === 'once' ? { instant: new Date(rule.at), ...shared } : { rule, ...shared }
  }

  return {
    get: (alarm) => orNull(async () => view(await transport.jsonOnAlarm('get', alarm, { query: across }))),
    getByKey: (key) => orNull(async () => view(await transport.jsonOnAlarm('get', { key }))),
    wire: (alarm) => orNull(async () => (await transport.callOnAlarm('get', alarm, { query: across })).text),

    list: async ({ since, ...rest } = {}) =>
      page('list', { ...wireNames({ ...rest }), since: since && sinceText(since) }),
    historyPage,
    history: (options = {}) =>
      upTo(options.limit ?? HISTORY_DEFAULT, (after) => historyPage({ ...options, ...after })),
    failedPage,
    failed: (options = {}) =>
      upTo(options.limit ?? FAILED_DEFAULT, (after) => failedPage({ ...options, ...after })),

    stats: async () => camelNames(await transport.json('stats', { query: across })) as unknown as StatsView,

    why: async (alarm) => {
      const wire = await transport.jsonOnAlarm('why', alarm, { query: across })
      return { ...wire, story: wire.story.map((line) => ({ ...line, at: new Date(line.at) })) }
    },

    preview,
    parse,
  } satisfies Partial<RemoteAlarms>
}

/** Reads pages until there are enough items, because a server ends a page early if alarms are large. */
async function upTo(
  asked: number,
  readPage: (after: { cursor?: string }) => Promise<ListPage>,
): Promise<AlarmView[]> {
  const limit = Math.min(asked, LIST_MAX)
  const found: AlarmView[] = []
  let after: { cursor?: string } | null = {}
  while (after !== null && found.length < limit) {
    const page = await readPage(after)
    found.push(...page.items)
    after = page.nextCursor === null ? null : { cursor: page.nextCursor }
  }
  return found.slice(0, limit)
}
