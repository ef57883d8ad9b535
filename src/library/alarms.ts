import {
  type AlarmView,
  amend,
  assertSeen,
  assertText,
  buildAlarm,
  type CancelOutcome,
  type Change,
  type Context,
  cancel,
  editedFields,
  fireNow,
  firstTimer,
  pause,
  replace,
  report,
  resume,
  retry,
  type Scope,
  type SetOptions,
  type Snapshot,
  type State,
  type Status,
  type Story,
  skipNext,
  viewOf,
  why,
  wireJson,
} from '../alarm/index.ts'
import { WakefulError } from '../error.ts'
import { decodeCursor, encodeCursor, readLog } from '../log/index.ts'
import type { ListQuery, LogEvent, Selector, SetRequest } from '../stores/index.ts'
import { parse, preview, resolveWhen, type When } from '../time/index.ts'
import type {
  Alarms,
  EventsOptions,
  EventView,
  HistoryOptions,
  ListOptions,
  ListPage,
  SeenOptions,
  SetCallOptions,
  SetManyItem,
} from './api.ts'
import type { Surround } from './surround.ts'

const LIST_DEFAULT = 50
const FAILED_DEFAULT = 20
const STORY_EVENTS_MAX = 1_000
/** Bulk edits go in chunks, so that others get their turn at the write lock. */
const BULK_CHUNK = 500

/** Which states a status word stands for in a list. */
const STATES_OF: Readonly<Record<Status | 'pending', readonly State[]>> = {
  active: ['active'],
  pending: ['active', 'paused'],
  paused: ['paused'],
  fired: ['awaiting', 'fired'],
  completed: ['completed'],
  failed: ['failed'],
  cancelled: ['cancelled'],
  timed_out: ['timed_out'],
}

/** In history the words mean what `stats` counts under them, as seed 001 has it. */
const HISTORY_STATES: Readonly<Record<NonNullable<HistoryOptions['status']>, readonly State[]>> = {
  pending: ['active', 'paused'],
  fired: ['awaiting'],
  completed: ['completed', 'fired'],
  failed: ['failed'],
  cancelled: ['cancelled'],
  timed_out: ['timed_out'],
  timeout_unknown: ['timed_out'],
}

/** One owner's alarms: every call carries the scope, and sees nothing else (promise: isolated). */
export class ScopedAlarms implements Alarms {
  readonly #around: Surround
  readonly #scope: Scope

  constructor(around: Surround, scope: Scope) {
    this.#around = around
    this.#scope = scope
  }

  async set(when: When, options: SetCallOptions = {}): Promise<AlarmView & { deduped?: true }> {
    const { tx, ...rest } = options
    const context = this.#around.context()
    const [answer] = await this.#around.store.set([this.#request(when, rest, context)], context, tx)
    if (answer!.outcome !== 'deduped') this.#changed(answer!.snapshot)
    const view = viewOf(answer!.snapshot)
    return answer!.outcome === 'deduped' ? { ...view, deduped: true } : view
  }

  async setMany(items: readonly SetManyItem[], options: { tx?: unknown } = {}): Promise<AlarmView[]> {
    const { batchMax } = this.#around.limits
    if (!Array.isArray(items))
      throw new WakefulError('invalid_request', 'setMany takes a list of { when, ...options }')
    if (items.length > batchMax)
      throw new WakefulError(
        'invalid_request',
        `${items.length} alarms in one batch; at most ${batchMax} are allowed`,
      )
    const context = this.#around.context()
    const requests = items.map(({ when, ...rest }) => this.#request(when, rest, context))
    const answers = await this.#around.store.set(requests, context, options.tx)
    for (const { snapshot } of answers) this.#changed(snapshot)
    return answers.map(({ snapshot }) => viewOf(snapshot))
  }

  async get(id: string): Promise<AlarmView | null> {
    const snapshot = await this.#around.store.get(this.#scope, { id: named('id', id) })
    return snapshot && viewOf(snapshot)
  }

  async getByKey(key: string): Promise<AlarmView | null> {
    const snapshot = await this.#around.store.get(this.#scope, { key: named('key', key) })
    return snapshot && viewOf(snapshot)
  }

  async wire(id: string): Promise<string | null> {
    const snapshot = await this.#around.store.get(this.#scope, { id: named('id', id) })
    return snapshot && wireJson(snapshot)
  }

  async list(options: ListOptions = {}): Promise<ListPage> {
    const { status, q, since, order = 'newest', limit, cursor, ...filters } = options
    const after = cursor === undefined ? undefined : decodeCursor('list', cursor)
    const page = await this.#around.store.list(this.#scope, {
      ...filters,
      states: status === undefined ? undefined : statesOf(STATES_OF, status),
      text: q,
      since: this.#since(since),
      order,
      limit: this.#limit(limit, LIST_DEFAULT),
      after:
        after === undefined ? undefined : { row: after[0]!, ...(after[1] !== undefined && { at: after[1] }) },
    })
    const { next } = page
    const nextCursor =
      next === null ? null : encodeCursor('list', next.at === undefined ? [next.row] : [next.row, next.at])
    return { items: page.items.map(viewOf), nextCursor }
  }

  async history(options: HistoryOptions = {}): Promise<AlarmView[]> {
    const { status, since, limit } = options
    return this.#page({
      states: status === undefined ? undefined : statesOf(HISTORY_STATES, status),
      target: options.target ?? options.process,
      since: this.#since(since),
      limit: this.#limit(limit, LIST_DEFAULT),
    })
  }

  failed(options: { limit?: number } = {}): Promise<AlarmView[]> {
    return this.#page({ states: ['failed', 'timed_out'], limit: this.#limit(options.limit, FAILED_DEFAULT) })
  }

  async stats() {
    const { timedOut, ...stats } = await this.#around.store.stats(this.#scope)
    return { ...stats, timeoutUnknown: timedOut }
  }

  reschedule(id: string, when: When, options: SeenOptions & { timezone?: string } = {}): Promise<AlarmView> {
    return this.#edit(id, options, (snapshot, context) => {
      const timezone = options.timezone ?? snapshot.alarm.rule.timezone
      const { rule, first, notes } = resolveWhen(when, { now: context.now, timezone })
      return replace(snapshot, { alarm: { ...snapshot.alarm, rule, notes }, first }, 'reschedule', context)
    })
  }

  edit(id: string, fields: SetOptions, options: SeenOptions = {}): Promise<AlarmView> {
    return this.#edit(id, options, (snapshot, context) =>
      amend(snapshot, editedFields(fields, snapshot.alarm, this.#around.workshop), context),
    )
  }

  async cancel(id: string, options: { tx?: unknown } = {}) {
    const [answer] = await this.#cancelWhich({ id: named('id', id) }, options.tx)
    if (answer === undefined) throw notFound(id)
    const alarm = options.tx === undefined ? await this.get(id) : null
    return { outcome: answer.outcome, alarm: alarm ?? answer.alarm }
  }

  async cancelMany(ids: readonly string[]): Promise<{ id: string; outcome: CancelOutcome | 'not_found' }[]> {
    const outcomes = new Map<string, CancelOutcome>()
    for (let i = 0; i < ids.length; i += BULK_CHUNK) {
      const chunk = ids.slice(i, i + BULK_CHUNK).map((id) => named('id', id))
      for (const { alarm, outcome } of await this.#cancelWhich({ ids: chunk }))
        outcomes.set(alarm.id, outcome)
    }
    return ids.map((id) => ({ id, outcome: outcomes.get(id) ?? 'not_found' }))
  }

  removeSubject(subject: string, options: { tx?: unknown } = {}) {
    named('subject', subject)
    return this.#cancelAll((after) => ({ subject, limit: BULK_CHUNK, ...after }), options.tx)
  }

  reset() {
    return this.#cancelAll((after) => ({ pending: true, limit: BULK_CHUNK, ...after }))
  }

  pause(id: string, options: SeenOptions = {}): Promise<AlarmView> {
    return this.#edit(id, options, pause)
  }

  resume(id: string, options: SeenOptions = {}): Promise<AlarmView> {
    return this.#edit(id, options, resume)
  }

  skipNext(id: string, options: SeenOptions = {}): Promise<AlarmView> {
    return this.#edit(id, options, skipNext)
  }

  fireNow(id: string, options: SeenOptions = {}): Promise<AlarmView> {
    return this.#edit(id, options, fireNow)
  }

  retry(id: string, options: SeenOptions = {}): Promise<AlarmView> {
    return this.#edit(id, options, retry)
  }

  complete(id: string, result = 'ok', options: { occurrenceId?: string } = {}): Promise<AlarmView> {
    const text = assertText('result', result, this.#around.limits.messageBytesMax)
    return this.#edit(id, {}, (snapshot, context) =>
      report(snapshot, { ok: true, text, ...options }, context),
    )
  }

  fail(id: string, reason = 'failed', options: { occurrenceId?: string } = {}): Promise<AlarmView> {
    const text = assertText('reason', reason, this.#around.limits.messageBytesMax)
    return this.#edit(id, {}, (snapshot, context) =>
      report(snapshot, { ok: false, text, ...options }, context),
    )
  }

  async why(id: string): Promise<Story> {
    const { store } = this.#around
    const snapshot = await store.get(this.#scope, { id: named('id', id) })
    if (snapshot === null) throw notFound(id)
    const [events, shards] = await Promise.all([
      store.events(this.#scope, { after: 0, limit: STORY_EVENTS_MAX, alarmId: id }),
      store.ownership(),
    ])
    const clockRuns = shards.some(({ pool, owner }) => pool === snapshot.alarm.target.pool && owner !== null)
    const told = events.map(({ at, type, data }) => ({
      at,
      type,
      data: JSON.parse(data) as Record<string, unknown>,
    }))
    return why(snapshot, told, { now: this.#around.context().now, clockRuns })
  }

  preview(when: When, options: { from?: Date; count?: number; timezone?: string } = {}) {
    const { from, count, timezone = this.#around.timezone } = options
    return preview(when, {
      now: this.#around.context().now,
      timezone,
      ...(from !== undefined && { from: from.getTime() }),
      ...(count !== undefined && { count }),
    })
  }

  parse(text: string, timezone = this.#around.timezone) {
    const parsed = parse(text, { now: this.#around.context().now, timezone })
    const { notes } = parsed
    if ('rule' in parsed) return { rule: parsed.rule, timezone: parsed.timezone, notes }
    return { instant: new Date(parsed.instant), timezone: parsed.timezone, notes }
  }

  async *events(options: EventsOptions = {}): AsyncIterableIterator<EventView> {
    const after = await this.#place(options.after)
    const { alarmId, signal, follow = false } = options
    const reading = {
      after,
      follow,
      ...(alarmId !== undefined && { alarmId }),
      ...(signal !== undefined && { signal }),
    }
    const stop = follow ? this.#around.watchLog() : () => {}
    try {
      for await (const event of readLog(this.#around.store, this.#scope, this.#around.bell, reading))
        yield eventView(event)
    } finally {
      stop()
    }
  }

  #place(after: string | undefined): Promise<number> | number {
    if (after === undefined) return 0
    return after === 'newest' ? this.#around.store.lastEvent() : decodeCursor('events', after)[0]!
  }

  #request(when: When, { timezone, ...options }: SetCallOptions, context: Context): SetRequest {
    const resolved = resolveWhen(when, { now: context.now, timezone: timezone ?? this.#around.timezone })
    const alarm = buildAlarm(
      this.#scope,
      resolved,
      { createdVia: this.#around.createdVia, ...options },
      context.now,
      this.#around.workshop,
    )
    return { alarm, timer: firstTimer(alarm, resolved.first) }
  }

  async #edit(
    id: string,
    seen: SeenOptions,
    decide: (snapshot: Snapshot, context: Context) => Change,
  ): Promise<AlarmView> {
    const context = this.#around.context()
    const which = { id: named('id', id) }
    const edited = await this.#around.store.edit(
      this.#scope,
      which,
      (snapshot) => {
        assertSeen(snapshot.alarm, seen.updatedAt?.getTime())
        return { change: decide(snapshot, context), answer: null }
      },
      context,
    )
    if (edited.answers.length === 0) throw notFound(id)
    const after = await this.#around.store.get(this.#scope, which)
    if (after === null) throw notFound(id)
    this.#changed(after)
    return viewOf(after)
  }

  async #cancelWhich(which: Selector, tx?: unknown) {
    const context = this.#around.context()
    const decide = (snapshot: Snapshot) => {
      const { change, outcome } = cancel(snapshot, context)
      return { change, answer: { alarm: viewOf(snapshot), outcome } }
    }
    const { answers } = await this.#around.store.edit(this.#scope, which, decide, context, tx)
    this.#around.bell.ring()
    return answers
  }

  async #cancelAll(which: (after: { after?: number }) => Selector, tx?: unknown) {
    const context = this.#around.context()
    const counts = { cancelled: 0, firing: 0, ended: 0 }
    const decide = (snapshot: Snapshot) => {
      const { change, outcome } = cancel(snapshot, context)
      counts[outcome] += 1
      return { change, answer: null }
    }
    let next: number | null = 0
    while (next !== null)
      next = (await this.#around.store.edit(this.#scope, which({ after: next }), decide, context, tx)).next
    this.#around.bell.ring()
    return { cancelled: counts.cancelled, firing: counts.firing }
  }

  async #page(query: Omit<ListQuery, 'order'>): Promise<AlarmView[]> {
    return (await this.#around.store.list(this.#scope, { order: 'newest', ...query })).items.map(viewOf)
  }

  #changed(snapshot: Snapshot): void {
    for (const timer of snapshot.timers) this.#around.hint(timer.wakeAt)
    this.#around.bell.ring()
  }

  #since(since: When | undefined): number | undefined {
    if (since === undefined) return undefined
    return resolveWhen(since, { now: this.#around.context().now, timezone: this.#around.timezone }).first
  }

  #limit(limit: number | undefined, standard: number): number {
    const { listMax } = this.#around.limits
    if (limit === undefined) return standard
    if (Number.isInteger(limit) && limit >= 1 && limit <= listMax) return limit
    throw new WakefulError(
      'invalid_request',
      `limit must be a whole number from 1 to ${listMax}, not ${limit}`,
    )
  }
}

function statesOf<S extends string>(
  table: Readonly<Record<S, readonly State[]>>,
  status: S,
): readonly State[] {
  if (Object.hasOwn(table, status)) return table[status]
  throw new WakefulError(
    'invalid_request',
    `status must be one of ${Object.keys(table).join(', ')}, not ${JSON.stringify(status)}`,
  )
}

function named(field: string, value: unknown): string {
  if (typeof value === 'string' && value !== '' && !value.includes('\0')) return value
  throw new WakefulError('invalid_request', `${field} must be a text that is not empty`)
}

function notFound(id: string): WakefulError {
  return new WakefulError('not_found', `there is no alarm ${JSON.stringify(id.slice(0, 100))}`)
}

function eventView(event: LogEvent): EventView {
  const { id, tenant, type, origin, alarmId, occurrenceId, key, subject, correlationId } = event
  const data = JSON.parse(event.data) as Record<string, unknown>
  const cursor = encodeCursor('events', [event.seq])
  return {
    id,
    cursor,
    tenant,
    type,
    origin,
    alarmId,
    occurrenceId,
    key,
    subject,
    correlationId,
    at: new Date(event.at),
    data,
    dataJson: event.data,
  }
}
