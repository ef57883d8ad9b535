import type { AlarmView, CancelOutcome, Story, StoryLine } from '../alarm/index.ts'
import { WakefulError } from '../errors/core.ts'
import type {
  DefaultTarget,
  EditFields,
  EventsOptions,
  EventView,
  FailedPageOptions,
  HistoryOptions,
  HistoryPageOptions,
  Inbox,
  ListOptions,
  ListPage,
  OwnEventInput,
  ParsedView,
  SeenOptions,
  SetCallOptions,
  SetManyItem,
  SetView,
  StatsView,
  TxOptions,
  Webhooks,
} from '../library/index.ts'
import type { Preview, PreviewedInstant, When } from '../time/index.ts'
import { type AlarmScope, type AlarmWire, alarmView, type EventWire, eventView } from './alarm-view.ts'
import type { ConnectOptions, RemoteAlarms } from './api.ts'
import { bodyText, editFields, eventFields, setFields, sinceText, whenFields, wireNames } from './body.ts'
import { orNull } from './error.ts'
import { newestCursor, readEvents } from './follow.ts'
import { remoteDefaultTarget, remoteInbox, remoteWebhooks } from './inbox.ts'
import type { CallInput } from './routes.ts'
import { camelNames, ruleOfPreview } from './rule.ts'
import { HttpTransport } from './transport.ts'

/** Concurrent calls of a bulk operation. */
const CONCURRENCY = 8
/** The default page sizes of a server. */
const HISTORY_DEFAULT = 50
const FAILED_DEFAULT = 20

type Counts = { cancelled: number; firing: number }
type OnOne = 'edit' | 'pause' | 'resume' | 'skip' | 'fire' | 'retry' | 'complete' | 'fail'

/** The alarms of one owner on a server. */
export class HttpAlarms implements RemoteAlarms {
  readonly inbox: Inbox
  readonly defaultTarget: DefaultTarget
  readonly webhooks: Webhooks
  readonly #transport: HttpTransport
  readonly #scope: AlarmScope

  constructor(url: string, options: ConnectOptions) {
    this.#transport = new HttpTransport(url, options)
    this.inbox = remoteInbox(this.#transport)
    this.defaultTarget = remoteDefaultTarget(this.#transport)
    this.webhooks = remoteWebhooks(this.#transport)
    const { key, tenant, owner } = options
    this.#scope = { tenant: tenant ?? (key === undefined ? 'default' : ''), owner: owner ?? '' }
  }

  get url(): string {
    return this.#transport.base
  }

  with(options: ConnectOptions): RemoteAlarms {
    return new HttpAlarms(this.url, { ...this.#transport.options, ...options })
  }

  forTenant(tenant: string, owner = ''): RemoteAlarms {
    return this.with({ tenant, owner })
  }

  async set(when: When, options: SetCallOptions = {}): Promise<SetView> {
    const { tx, traceparent, ...rest } = options
    refuseTx(tx)
    const trace = traceIn([traceparent])
    const { key, ...fields } = setFields({ when, ...rest }, this.#transport.options.timezone)
    const isRepeatable = typeof rest.idempotencyKey === 'string'
    // A set by key is safe to repeat. A key that cannot be part of a path goes into the body.
    const { status, text } =
      typeof key === 'string' && !/^\.{0,2}$/.test(key)
        ? await this.#transport.call('setByKey', { params: { key }, body: bodyText(fields), ...trace })
        : await this.#transport.call('set', { body: bodyText({ ...fields, key }), isRepeatable, ...trace })
    return this.#wasSet(this.#transport.read<AlarmWire>(text), status === 200)
  }

  async setMany(items: readonly SetManyItem[], options: TxOptions = {}): Promise<SetView[]> {
    refuseTx(options.tx)
    if (!Array.isArray(items))
      throw new WakefulError('argument.not_list', {
        call: 'setMany',
        of: '{ when, ...options }',
        value: typeof items,
      })
    if (items.length === 0) return []
    const texts = items.map(({ traceparent: _, ...item }: SetManyItem) =>
      bodyText(setFields(item, this.#transport.options.timezone)),
    )
    const answer = await this.#transport.json<'setMany', { items: AlarmWire[] }>('setMany', {
      body: `{"items":[${texts.join(',')}]}`,
      ...traceIn(items.map(({ traceparent }: SetManyItem) => traceparent)),
      isRepeatable: items.every(({ idempotencyKey }) => typeof idempotencyKey === 'string'),
    })
    return answer.items.map((wire) => this.#wasSet(wire, wire.created_at !== wire.updated_at))
  }

  get(id: string): Promise<AlarmView | null> {
    return orNull(async () => this.#view(await this.#transport.json('get', { params: { id } })))
  }

  getByKey(key: string): Promise<AlarmView | null> {
    return orNull(async () => this.#view(await this.#transport.json('getByKey', { params: { key } })))
  }

  wire(id: string): Promise<string | null> {
    return orNull(async () => (await this.#transport.call('get', { params: { id } })).text)
  }

  async list(options: ListOptions = {}): Promise<ListPage> {
    const { since, ...rest } = options
    return this.#page('list', {
      ...wireNames(rest as Record<string, unknown>),
      since: since === undefined ? undefined : sinceText(since),
    })
  }

  reschedule(id: string, when: When, options: SeenOptions & { timezone?: string } = {}): Promise<AlarmView> {
    const { timezone, ...seen } = options
    return this.edit(id, { when, ...(timezone !== undefined && { timezone }) }, seen)
  }

  async edit(id: string, fields: EditFields, options: SeenOptions = {}): Promise<AlarmView> {
    return this.#one('edit', id, { body: bodyText(editFields(fields)), ...seenIn(options) })
  }

  async cancel(id: string, options: SeenOptions & TxOptions = {}) {
    refuseTx(options.tx)
    const answer = await this.#transport.json<'cancel', { outcome: CancelOutcome; alarm: AlarmWire }>(
      'cancel',
      {
        params: { id },
        ...seenIn(options),
      },
    )
    return { outcome: answer.outcome, alarm: this.#view(answer.alarm) }
  }

  async cancelMany(ids: readonly string[]): Promise<{ id: string; outcome: CancelOutcome | 'not_found' }[]> {
    const outcomes: { id: string; outcome: CancelOutcome | 'not_found' }[] = []
    let next = 0
    const work = async () => {
      for (let at = next++; at < ids.length; at = next++) {
        const id = ids[at]!
        const answer = await orNull(() => this.cancel(id))
        outcomes[at] = { id, outcome: answer?.outcome ?? 'not_found' }
      }
    }
    await Promise.all(Array.from({ length: Math.min(CONCURRENCY, ids.length) }, work))
    return outcomes
  }

  async removeSubject(subject: string, options: TxOptions = {}): Promise<Counts> {
    refuseTx(options.tx)
    return this.#transport.json('removeSubject', { params: { subject } })
  }

  async pause(id: string, options: SeenOptions = {}): Promise<AlarmView> {
    return this.#one('pause', id, seenIn(options))
  }

  async resume(id: string, options: SeenOptions = {}): Promise<AlarmView> {
    return this.#one('resume', id, seenIn(options))
  }

  async skipNext(id: string, options: SeenOptions = {}): Promise<AlarmView> {
    return this.#one('skip', id, seenIn(options))
  }

  async fireNow(id: string, options: SeenOptions = {}): Promise<AlarmView> {
    return this.#one('fire', id, seenIn(options))
  }

  async retry(id: string, options: SeenOptions = {}): Promise<AlarmView> {
    return this.#one('retry', id, seenIn(options))
  }

  complete(id: string, result?: string, options: { occurrenceId?: string } = {}): Promise<AlarmView> {
    return this.#one('complete', id, { body: bodyText({ result, occurrence_id: options.occurrenceId }) })
  }

  fail(id: string, reason?: string, options: { occurrenceId?: string } = {}): Promise<AlarmView> {
    return this.#one('fail', id, { body: bodyText({ reason, occurrence_id: options.occurrenceId }) })
  }

  reset(): Promise<Counts> {
    return this.#transport.json('reset')
  }

  history(options: HistoryOptions = {}): Promise<AlarmView[]> {
    const { limit = HISTORY_DEFAULT } = options
    return upTo(limit, (after) => this.historyPage({ ...options, ...after }))
  }

  async historyPage(options: HistoryPageOptions = {}): Promise<ListPage> {
    const { since, ...rest } = options
    return this.#page('history', { ...rest, since: since === undefined ? undefined : sinceText(since) })
  }

  failed(options: { limit?: number } = {}): Promise<AlarmView[]> {
    const { limit = FAILED_DEFAULT } = options
    return upTo(limit, (after) => this.failedPage({ ...options, ...after }))
  }

  failedPage(options: FailedPageOptions = {}): Promise<ListPage> {
    return this.#page('failed', { ...options })
  }

  async stats(): Promise<StatsView> {
    return camelNames(await this.#transport.json('stats')) as unknown as StatsView
  }

  async why(id: string): Promise<Story> {
    type Wire = Omit<Story, 'story'> & { story: (Omit<StoryLine, 'at'> & { at: string })[] }
    const wire = await this.#transport.json<'why', Wire>('why', { params: { id } })
    return { ...wire, story: wire.story.map((line) => ({ ...line, at: new Date(line.at) })) }
  }

  async preview(
    when: When,
    options: { from?: Date; count?: number; timezone?: string } = {},
  ): Promise<Preview> {
    const { from, count, timezone = this.#transport.options.timezone } = options
    const fields = { ...whenFields(when, timezone), from: from && sinceText(from), instants: count }
    type Wire = Omit<Preview, 'rule'> & { rule: Record<string, unknown>; instants: PreviewedInstant[] }
    const answer = await this.#transport.json<'preview', Wire>('preview', {
      body: bodyText(fields),
      isRepeatable: true,
    })
    return { ...answer, rule: ruleOfPreview(answer.rule) }
  }

  async parse(text: string, timezone?: string): Promise<ParsedView> {
    const preview = await this.preview(text, { count: 1, ...(timezone !== undefined && { timezone }) })
    const note = preview.instants[0]?.note
    const shared = { timezone: preview.timezone, notes: note === undefined ? [] : [note] }
    const { rule } = preview
    return rule.kind === 'once' ? { instant: new Date(rule.at), ...shared } : { rule, ...shared }
  }

  events(options: EventsOptions = {}): AsyncIterableIterator<EventView> {
    return readEvents(this.#transport, options)
  }

  newest(): Promise<string> {
    return newestCursor(this.#transport)
  }

  async append(event: OwnEventInput): Promise<EventView> {
    return eventView(
      await this.#transport.json<'append', EventWire>('append', { body: bodyText(eventFields(event)) }),
    )
  }

  /** Changes one alarm. */
  async #one<N extends OnOne>(
    name: N,
    id: string,
    input: Pick<CallInput<N>, 'body' | 'seen'>,
  ): Promise<AlarmView> {
    const all = { ...input, params: { id } } as unknown as CallInput<N>
    return this.#view(await this.#transport.json<N, AlarmWire>(name, all))
  }

  async #page<N extends 'list' | 'history' | 'failed'>(
    name: N,
    query: NonNullable<CallInput<N>['query']>,
  ): Promise<ListPage> {
    type Wire = { items: AlarmWire[]; next_cursor: string | null }
    const page = await this.#transport.json<N, Wire>(name, { query } as CallInput<N>)
    return { items: page.items.map((wire) => this.#view(wire)), nextCursor: page.next_cursor }
  }

  #view(wire: AlarmWire): AlarmView {
    return alarmView(wire, this.#scope)
  }

  #wasSet(wire: AlarmWire, wasThere: boolean): SetView {
    const view = this.#view(wire)
    if (wire.deduped === true) return { ...view, deduped: true }
    return wasThere ? { ...view, replaced: true } : view
  }
}

/** Reads pages until there are enough items, because a server ends a page early if alarms are large. */
async function upTo(
  limit: number,
  ask: (after: { cursor?: string }) => Promise<ListPage>,
): Promise<AlarmView[]> {
  const found: AlarmView[] = []
  let after: { cursor?: string } | null = {}
  while (after !== null && found.length < limit) {
    const page = await ask(after)
    found.push(...page.items)
    after = page.nextCursor === null ? null : { cursor: page.nextCursor }
  }
  return found.slice(0, limit)
}

function refuseTx(tx: unknown): void {
  if (tx !== undefined) throw new WakefulError('client.tx', {})
}

/** The trace of a call, which is sent as a header. One call has one trace. */
function traceIn(traces: readonly (string | undefined)[]): { traceparent?: string } {
  const [first, ...others] = new Set(traces)
  if (others.length > 0) throw new WakefulError('client.traceparents', {})
  return first === undefined ? {} : { traceparent: first }
}

function seenIn({ updatedAt }: SeenOptions): { seen?: string } {
  return updatedAt === undefined ? {} : { seen: sinceText(updatedAt) }
}
