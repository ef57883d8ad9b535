import {
  ALARM_OPTIONS,
  type Alarm,
  type AlarmView,
  amend,
  assertCurrent,
  assertText,
  type BuildContext,
  buildAlarm,
  type CancelOutcome,
  type Change,
  type Context,
  cancel,
  editedFields,
  fireNow,
  firstTimer,
  namedBy,
  pause,
  replace,
  report,
  resume,
  retry,
  type Serial,
  type Snapshot,
  skipNext,
  viewOf,
} from '../alarm/index.ts'
import { watched } from '../engine/index.ts'
import { inField, WakefulError } from '../error.ts'
import type { Decide, Selector, SetRequest, SetResult } from '../stores/index.ts'
import {
  type CalendarLookup,
  parseInstant,
  resolveReschedule,
  resolveWhen,
  type When,
  Yielder,
} from '../time/index.ts'
import type {
  Alarms,
  DefaultTarget,
  EditFields,
  EventView,
  Inbox,
  OwnEventInput,
  SeenOptions,
  SetCallOptions,
  SetManyItem,
  SetView,
  TxOptions,
} from './api.ts'
import { DEFAULT_SPEC } from './default-target.ts'
import { eventView, userEvent } from './events.ts'
import { OwnInbox } from './inbox.ts'
import { checked, checkedList, checkedName, ofItem } from './options.ts'
import { notFound, ScopedReads } from './reads.ts'

const SEEN = { updatedAt: true } as const
const TX = { tx: true } as const
const SET_OPTIONS = { ...ALARM_OPTIONS, timezone: true, ...TX } as const
const EDIT_FIELDS = { ...ALARM_OPTIONS, when: true, timezone: true } as const
const SET_MANY_ITEM = { ...ALARM_OPTIONS, when: true, timezone: true } as const
const SET_ATTEMPTS_MAX = 3
/** Bulk edits are done in chunks, so that others get their turn at the write lock. */
const BULK_CHUNK = 500
/** Items of a batch that are resolved before others get a turn. */
const READ_PER_TURN = 20

/** What an alarm is built with. */
type SetContext = BuildContext & { readonly calendars: CalendarLookup }

/** One owner's alarms: every call carries the scope, and sees nothing else (promise: isolated). */
export class ScopedAlarms extends ScopedReads implements Alarms {
  get inbox(): Inbox {
    return new OwnInbox(this.library, this.scope, this)
  }

  get defaultTarget(): DefaultTarget {
    return this.library.defaultTargets.of(this.scope, this.library.buildContext)
  }

  async set(when: When, options: SetCallOptions = {}): Promise<SetView> {
    const { tx, ...rest } = checked<SetCallOptions>('set', options, SET_OPTIONS)
    const [answer] = await this.#store([{ when, ...rest }], tx)
    return this.#wasSet(answer!)
  }

  async setMany(items: readonly SetManyItem[], options: TxOptions = {}): Promise<SetView[]> {
    const { batchMax } = this.library.limits
    checkedList('setMany', items, '{ when, ...options }')
    if (items.length > batchMax)
      throw new WakefulError('batch.too_large', { count: items.length, max: batchMax })
    const { tx } = checked<TxOptions>('setMany', options, TX)
    for (const [at, item] of items.entries())
      ofItem(at, () => checked<SetManyItem>('setMany', item, SET_MANY_ITEM))
    const answers = await this.#store(items, tx, ofItem)
    return answers.map((answer) => this.#wasSet(answer))
  }

  reschedule(id: string, when: When, options: SeenOptions & { timezone?: string } = {}): Promise<AlarmView> {
    const { timezone, ...seen } = checked<typeof options>('reschedule', options, { ...SEEN, timezone: true })
    return this.#edit('reschedule', id, seen, (snapshot, context) =>
      this.#moved(snapshot, when, timezone, {}, context),
    )
  }

  edit(id: string, fields: EditFields, options: SeenOptions = {}): Promise<AlarmView> {
    const { when, timezone, ...rest } = checked<EditFields>('edit', fields, EDIT_FIELDS)
    if (timezone !== undefined && when === undefined)
      throw new WakefulError('field.needs', { other: 'when' }, { field: 'timezone' })
    return this.#edit('edit', id, options, (snapshot, context) => {
      const edited = editedFields(rest, snapshot.alarm, this.library.buildContext)
      return when === undefined
        ? amend(snapshot, edited, context)
        : this.#moved(snapshot, when, timezone, edited, context)
    })
  }

  async cancel(id: string, options: SeenOptions & TxOptions = {}) {
    const { tx, ...rest } = checked<SeenOptions & TxOptions>('cancel', options, { ...SEEN, ...TX })
    const [edited] = await this.#cancelWhich({ id: checkedName('id', id) }, tx, seenAt(rest))
    if (edited === undefined) throw notFound(id)
    return { outcome: edited.answer, alarm: viewOf(edited.snapshot) }
  }

  async cancelMany(ids: readonly string[]): Promise<{ id: string; outcome: CancelOutcome | 'not_found' }[]> {
    checkedList('cancelMany', ids, 'ids')
    const outcomes = new Map<string, CancelOutcome>()
    for (let i = 0; i < ids.length; i += BULK_CHUNK) {
      const chunk = ids.slice(i, i + BULK_CHUNK).map((id) => checkedName('id', id))
      for (const { answer, snapshot } of await this.#cancelWhich({ ids: chunk }))
        outcomes.set(snapshot.alarm.id, answer)
    }
    return ids.map((id) => ({ id, outcome: outcomes.get(id) ?? 'not_found' }))
  }

  async removeSubject(subject: string, options: TxOptions = {}) {
    checkedName('subject', subject)
    const { tx } = checked<TxOptions>('removeSubject', options, TX)
    return this.#cancelAll((after) => ({ subject, limit: BULK_CHUNK, ...after }), tx)
  }

  /** An alarm that was delivered and awaits its report is not pending any more. */
  reset() {
    const isPending = (snapshot: Snapshot) => viewOf(snapshot).status !== 'fired'
    return this.#cancelAll((after) => ({ pending: true, limit: BULK_CHUNK, ...after }), undefined, isPending)
  }

  pause(id: string, options: SeenOptions = {}): Promise<AlarmView> {
    return this.#edit('pause', id, options, pause)
  }

  resume(id: string, options: SeenOptions = {}): Promise<AlarmView> {
    return this.#edit('resume', id, options, resume)
  }

  skipNext(id: string, options: SeenOptions = {}): Promise<AlarmView> {
    return this.#edit('skipNext', id, options, skipNext)
  }

  fireNow(id: string, options: SeenOptions = {}): Promise<AlarmView> {
    return this.#edit('fireNow', id, options, fireNow)
  }

  retry(id: string, options: SeenOptions = {}): Promise<AlarmView> {
    return this.#edit('retry', id, options, retry)
  }

  complete(id: string, result = 'ok', options: { occurrenceId?: string } = {}): Promise<AlarmView> {
    checked<typeof options>('complete', options, { occurrenceId: true })
    const text = assertText('result', result, this.library.limits.messageBytesMax)
    return this.#edit('complete', id, {}, (snapshot, context) =>
      report(snapshot, { ok: true, text, ...options }, context),
    )
  }

  fail(id: string, reason = 'failed', options: { occurrenceId?: string } = {}): Promise<AlarmView> {
    checked<typeof options>('fail', options, { occurrenceId: true })
    const text = assertText('reason', reason, this.library.limits.messageBytesMax)
    return this.#edit('fail', id, {}, (snapshot, context) =>
      report(snapshot, { ok: false, text, ...options }, context),
    )
  }

  async append(event: OwnEventInput): Promise<EventView> {
    const { store, logNotifier, limits } = this.library
    const appended = await store.append(this.scope, userEvent(event, this.library.context(), limits))
    logNotifier.notify(this.scope)
    return eventView(appended)
  }

  /** Resolves and writes; once more where a calendar is not known here, or was edited in between. */
  async #store(
    asked: readonly SetManyItem[],
    tx: unknown,
    which = <T>(_at: number, work: () => T) => work(),
  ): Promise<SetResult[]> {
    const { store, observer } = this.library
    const items = await this.#addressed(asked)
    for (let attempt = 1; ; attempt++) {
      try {
        const context = this.library.context()
        const build = { ...this.library.buildContext, calendars: this.calendars.lookup }
        const read = (item: SetManyItem, at: number) => which(at, () => this.#request(item, context, build))
        // Inside the caller's own transaction there are no pauses: it has a lock that other calls of this process may wait for.
        const isLong = items.length > 1 && tx === undefined
        const requests = isLong ? await this.#inTurns(items, read) : items.map(read)
        const answers = await watched(observer, 'set', store.set(requests, context, tx))
        if (observer !== undefined) for (const { outcome } of answers) observer.set(outcome)
        return answers
      } catch (thrown) {
        const code = thrown instanceof WakefulError ? thrown.code : null
        const mayBeOld = (code === 'invalid_rule' && attempt === 1) || code === 'conflict'
        if (!mayBeOld || attempt >= SET_ATTEMPTS_MAX) throw thrown
      }
      await store.readCalendars()
    }
  }

  /** Items without a target get their owner's default, if there is one. */
  async #addressed(items: readonly SetManyItem[]): Promise<readonly SetManyItem[]> {
    if (items.every(({ target }) => target !== undefined)) return items
    if ((await this.library.defaultTargets.find(this.scope)) === null) return items
    return items.map((item) => ({ ...item, target: item.target ?? DEFAULT_SPEC }))
  }

  async #inTurns(items: readonly SetManyItem[], read: (item: SetManyItem, at: number) => SetRequest) {
    const yielder = new Yielder(this.library.clock, READ_PER_TURN)
    const requests: SetRequest[] = []
    for (const [at, item] of items.entries()) {
      if (at > 0) await yielder.afterItem()
      requests.push(read(item, at))
    }
    return requests
  }

  #request({ when, timezone, ...options }: SetManyItem, { now }: Context, build: SetContext): SetRequest {
    const zone = timezone ?? this.library.timezone
    const resolved = resolveWhen(when, { now, timezone: zone, calendars: build.calendars })
    const chosen = { createdVia: this.library.createdVia, ...options }
    const alarm = buildAlarm(this.scope, resolved, chosen, now, build)
    return { alarm, timer: firstTimer(alarm, resolved) }
  }

  /** Reschedules an alarm, and edits it in the same change. */
  #moved(
    snapshot: Snapshot,
    when: When,
    zone: string | undefined,
    fields: Partial<Alarm>,
    context: Context,
  ): Change {
    const timezone = zone ?? snapshot.alarm.rule.timezone
    const calendars = this.calendars.lookup
    const at = { now: context.now, timezone, calendars }
    const gone = snapshot.timers.find(({ kind }) => kind === 'due')?.tick ?? 1
    const { rule, first, nominal, notes } = resolveReschedule(snapshot.alarm.rule, when, at, gone - 1)
    const alarm = { ...snapshot.alarm, ...fields, rule, calendars: namedBy(rule, calendars), notes }
    return replace(snapshot, { alarm, first, nominal }, 'reschedule', context)
  }

  async #edit(
    call: string,
    id: string,
    options: SeenOptions,
    decide: (snapshot: Snapshot, context: Context) => Change,
  ): Promise<AlarmView> {
    const context = this.library.context()
    const seen = seenAt(checked<SeenOptions>(call, options, SEEN))
    const which = { id: checkedName('id', id) }
    const checkAndDecide: Decide<null> = (snapshot) => {
      assertCurrent(snapshot.alarm, seen)
      return { change: decide(snapshot, context), answer: null }
    }
    const [edited] = (await this.#editStored(which, checkAndDecide, context)).results
    if (edited === undefined) throw notFound(id)
    this.#changed(edited.snapshot)
    return viewOf(edited.snapshot)
  }

  async #cancelWhich(which: Selector, tx?: unknown, seen?: number) {
    const context = this.library.context()
    const decide = (snapshot: Snapshot) => {
      assertCurrent(snapshot.alarm, seen)
      const { change, outcome } = cancel(snapshot, context)
      return { change, answer: outcome }
    }
    const { results } = await this.#editStored(which, decide, context, tx)
    this.library.logNotifier.notify(this.scope)
    return results
  }

  async #cancelAll(
    which: (after: { after?: Serial }) => Selector,
    tx?: unknown,
    fits = (_: Snapshot) => true,
  ) {
    const context = this.library.context()
    const counts = { cancelled: 0, firing: 0, ended: 0 }
    // Counted from the answers: a store may have to decide twice.
    const decide: Decide<CancelOutcome | null> = (snapshot) => {
      if (!fits(snapshot)) return { change: {}, answer: null }
      const { change, outcome } = cancel(snapshot, context)
      return { change, answer: outcome }
    }
    for (let after: Serial | null = 0; after !== null; ) {
      const page = which({ after })
      const { results, next } = await this.#editStored(page, decide, context, tx)
      for (const { answer } of results) if (answer !== null) counts[answer] += 1
      after = next
    }
    this.library.logNotifier.notify(this.scope)
    return { cancelled: counts.cancelled, firing: counts.firing }
  }

  #editStored<A>(which: Selector, decide: Decide<A>, context: Context, tx?: unknown) {
    const { store, observer } = this.library
    return watched(observer, 'edit', store.edit(this.scope, which, decide, context, tx))
  }

  #wasSet({ outcome, snapshot }: SetResult): SetView {
    const view = viewOf(snapshot)
    if (outcome === 'deduped') return { ...view, deduped: true }
    // A new alarm has no event in the log yet, so no reader is woken.
    if (outcome === 'created') this.#hint(snapshot)
    else this.#changed(snapshot)
    return outcome === 'replaced' ? { ...view, replaced: true } : view
  }

  #changed(snapshot: Snapshot): void {
    this.#hint(snapshot)
    this.library.logNotifier.notify(this.scope)
  }

  #hint({ timers }: Snapshot): void {
    for (const timer of timers) this.library.engine.hint(timer.wakeAt)
  }
}

/** The version that the caller read, as an instant. */
function seenAt({ updatedAt }: SeenOptions): number | undefined {
  if (updatedAt === undefined) return undefined
  if (updatedAt instanceof Date || typeof updatedAt === 'string')
    return inField('updatedAt', () => parseInstant(updatedAt))
  throw new WakefulError(
    'field.invalid',
    { expected: 'a Date or an ISO string', value: typeof updatedAt },
    { field: 'updatedAt' },
  )
}
