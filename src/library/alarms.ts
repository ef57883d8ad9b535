import {
  ALARM_OPTIONS,
  type Alarm,
  type AlarmView,
  amend,
  assertCurrent,
  assertText,
  buildAlarm,
  type CancelOutcome,
  type Change,
  type Context,
  cancel,
  checked,
  checkedList,
  editedFields,
  fireNow,
  firstTimer,
  namedBy,
  ofItem,
  pause,
  replace,
  report,
  resume,
  retry,
  type Scope,
  type Serial,
  type Snapshot,
  skipNext,
  undeclare,
  viewOf,
} from '../alarm/index.ts'
import { reportAndRethrow } from '../engine/index.ts'
import { display, WakefulError } from '../error.ts'
import type { Decide, Selector, SetRequest, SetResult } from '../stores/index.ts'
import { resolveReschedule, resolveWhen, type When, type WhenContext } from '../time/index.ts'
import type {
  Admit,
  AlarmRef,
  Alarms,
  EditFields,
  MoveOptions,
  ResolvedRule,
  SeenOptions,
  SetCallOptions,
  SetManyItem,
  SetView,
  TxOptions,
} from './api.ts'
import { type Applied, type ApplyOptions, applyList, assertBatch, type DeclaredAlarm } from './apply.ts'
import { type CancelOptions, type EditOptions, resolvedRule, seenAt, snoozed } from './call-input.ts'
import type { LibraryContext } from './context.ts'
import { DEFAULT_SPEC, type NameJudge, otherNotes, targetNotes } from './documents/index.ts'
import { inTurns } from './in-turns.ts'
import { OwnInbox } from './inbox.ts'
import { notFound, ScopedReads } from './reads.ts'
import type { Inbox } from './resources.ts'

const SEEN = { updatedAt: true } as const
const MOVE = { ...SEEN, timezone: true } as const
const TX = { tx: true } as const
const SET_OPTIONS = { ...ALARM_OPTIONS, timezone: true, paused: true, ...TX } as const
const EDIT_FIELDS = { ...ALARM_OPTIONS, when: true, timezone: true } as const
const ITEM_FIELDS = { ...EDIT_FIELDS, paused: true } as const
const OCCURRENCE = { occurrenceId: true } as const
const SET_ATTEMPTS_MAX = 3
/** Bulk edits are done in chunks, so that other calls get the write lock in between. */
const BULK_CHUNK = 500

type Decision = (snapshot: Snapshot, context: Context) => Change
type Decided<A> = ReturnType<Decide<A>>

interface StoreOptions extends TxOptions {
  /** The name of the `apply` that declares the alarms. */
  readonly declaredBy?: string | null
  /** Adds an item's index to its errors. */
  readonly withIndex?: <T>(at: number, work: () => T) => T
}

/** One owner's alarms: every call carries the scope, and sees nothing else (promise: isolated). */
export class ScopedAlarms
  extends ScopedReads
  implements Omit<Alarms, 'append' | 'cancelMany' | 'pauseMany' | 'resumeMany'>
{
  readonly #admit: Admit | undefined

  constructor(library: LibraryContext, scope: Scope, admit?: Admit) {
    super(library, scope)
    this.#admit = admit
  }

  get inbox(): Inbox {
    return new OwnInbox(this.library, this.scope, this)
  }

  async set(when: When, options: SetCallOptions = {}): Promise<SetView> {
    const { tx, ...rest } = checked<SetCallOptions>('set', options, SET_OPTIONS)
    const [answer] = await this.#storeItems([{ when, ...rest }], { tx })
    return this.#setViewOf(answer!)
  }

  async setMany(items: readonly SetManyItem[], options: TxOptions = {}): Promise<SetView[]> {
    checkedList('setMany', items, '{ when, ...options }')
    assertBatch(items, this.library.limits)
    const { tx } = checked<TxOptions>('setMany', options, TX)
    for (const [at, item] of items.entries())
      ofItem(at, () => checked<SetManyItem>('setMany', item, ITEM_FIELDS))
    const answers = await this.#storeItems(items, { tx, withIndex: ofItem })
    return answers.map((answer) => this.#setViewOf(answer))
  }

  apply(items: readonly DeclaredAlarm[], options: ApplyOptions = {}): Promise<Applied> {
    return applyList(items, options, {
      limits: this.library.limits,
      store: async (declared, declaration) => {
        const results = await this.#storeItems(declared, declaration)
        for (const result of results) this.#setViewOf(result)
        return results
      },
      request: async (item, now = this.library.context().now) => {
        const [whole] = await this.#withDefaultTarget([item])
        return this.#request(whole!, null, { ...this.library.context(), now }, [], () => [])
      },
      get: (key) => this.library.store.get(this.scope, { key }),
      adopt: async (snapshot, declaredBy) => {
        if (snapshot.alarm.declaredBy === declaredBy) return snapshot
        const adopt = ({ alarm }: Snapshot) => ({ change: { alarm: { ...alarm, declaredBy } }, answer: null })
        const [edited] = (await this.#editStored({ id: snapshot.alarm.id }, adopt, {})).results
        return edited?.snapshot ?? snapshot
      },
      cancel: (which, mayCancel) => this.#cancelWhich(which, { mayCancel, isUndeclared: true }),
    })
  }

  reschedule(alarm: AlarmRef, when: When, options: MoveOptions = {}): Promise<AlarmView> {
    const { timezone, ...seen } = checked<MoveOptions>('reschedule', options, MOVE)
    return this.#edit('reschedule', alarm, seen, (snapshot, context) =>
      this.#reschedule(snapshot, when, timezone, {}, context, targetNotes(snapshot.alarm)),
    )
  }

  edit(alarm: AlarmRef, fields: EditFields, options: SeenOptions = {}): Promise<AlarmView> {
    const { when, timezone, ...rest } = checked<EditFields>('edit', fields, EDIT_FIELDS)
    if (timezone !== undefined && when === undefined)
      throw new WakefulError('field.needs', { other: 'when' }, { field: 'timezone' })
    if (Object.values(fields).every((value) => value === undefined))
      throw new WakefulError('alarm.nothing_to_edit', {})
    return this.library.handlerNames.judge([rest]).then((judge) =>
      this.#edit('edit', alarm, options, (snapshot, context) => {
        const ofTargets = targetNotes(snapshot.alarm, rest, judge)
        const edited = editedFields(rest, snapshot.alarm, this.library.fieldContext)
        if (when !== undefined) return this.#reschedule(snapshot, when, timezone, edited, context, ofTargets)
        return amend(snapshot, { ...edited, notes: [...otherNotes(snapshot.alarm), ...ofTargets] }, context)
      }),
    )
  }

  async cancel(alarm: AlarmRef, options: SeenOptions & TxOptions = {}) {
    const { tx, ...rest } = checked<SeenOptions & TxOptions>('cancel', options, { ...SEEN, ...TX })
    const seen = seenAt(rest)
    const [edited] = (await this.#cancelWhich(this.named(alarm), { tx, seen })).results
    if (edited === undefined) throw notFound(alarm)
    return { outcome: edited.answer, alarm: viewOf(edited.snapshot) }
  }

  async cancelMany(ids: readonly string[]): Promise<{ id: string; outcome: CancelOutcome | 'not_found' }[]> {
    checkedList('cancelMany', ids, 'ids')
    const outcomes = new Map<string, CancelOutcome>()
    for (let i = 0; i < ids.length; i += BULK_CHUNK) {
      const chunk = ids.slice(i, i + BULK_CHUNK).map((id) => this.name('id', id))
      for (const { answer, snapshot } of (await this.#cancelWhich({ ids: chunk })).results)
        outcomes.set(snapshot.alarm.id, answer)
    }
    return ids.map((id) => ({ id, outcome: outcomes.get(id) ?? 'not_found' }))
  }

  async removeSubject(subject: string, options: TxOptions = {}) {
    this.name('subject', subject)
    const { tx } = checked<TxOptions>('removeSubject', options, TX)
    return this.#cancelAll((after) => ({ subject, limit: BULK_CHUNK, after }), { tx })
  }

  /** Leaves out alarms that were delivered and await their report: they are not pending any more. */
  reset() {
    const mayCancel = (snapshot: Snapshot) => viewOf(snapshot).status !== 'fired'
    return this.#cancelAll((after) => ({ pending: true, limit: BULK_CHUNK, after }), { mayCancel })
  }

  readonly pause = this.#action('pause', pause)
  readonly resume = this.#action('resume', resume)
  readonly skipNext = this.#action('skipNext', skipNext)
  readonly fireNow = this.#action('fireNow', fireNow)
  readonly retry = this.#action('retry', retry)

  /** A one-shot alarm is set again for that instant, also if it has fired; of a recurring one, one occurrence moves. */
  snooze(alarm: AlarmRef, when: When, options: MoveOptions = {}): Promise<AlarmView> {
    const { timezone, ...seen } = checked<MoveOptions>('snooze', options, MOVE)
    return this.#edit('snooze', alarm, seen, (snapshot, context) => {
      const whenContext = this.#zoned(snapshot, timezone, context)
      const resolved = resolveWhen(when, whenContext)
      const change = snoozed(snapshot, resolved, context)
      this.#admit?.([resolvedRule(resolved, whenContext)], context.now)
      return change
    })
  }

  complete(alarm: AlarmRef, result = 'ok', options: { occurrenceId?: string } = {}): Promise<AlarmView> {
    return this.#report('complete', alarm, ['result', result], options)
  }

  fail(alarm: AlarmRef, reason = 'failed', options: { occurrenceId?: string } = {}): Promise<AlarmView> {
    return this.#report('fail', alarm, ['reason', reason], options)
  }

  /** Resolves items and writes them. Tries again if a calendar is not known here yet, or was edited in between. */
  async #storeItems(
    withoutDefaults: readonly SetManyItem[],
    { tx, declaredBy = null, withIndex = (_at, work) => work() }: StoreOptions,
  ): Promise<SetResult[]> {
    const { store, observer } = this.library
    const items = await this.#withDefaultTarget(withoutDefaults)
    const judge = await this.library.handlerNames.judge(items)
    for (let attempt = 1; ; attempt++) {
      try {
        const context = this.library.context()
        const rules: ResolvedRule[] = []
        const read = (item: SetManyItem, at: number) =>
          withIndex(at, () => this.#request(item, declaredBy, context, rules, judge))
        // No pauses inside the caller's transaction: it has a lock that other calls of this process may wait for.
        const mayPause = items.length > 1 && tx === undefined
        const requests = mayPause ? await inTurns(items, read, this.library.clock) : items.map(read)
        this.#admit?.(rules, context.now)
        const answers = await store
          .set(requests, context, tx)
          .catch((thrown: unknown) => reportAndRethrow(observer, 'set', thrown))
        for (const { outcome } of answers) observer?.set(outcome === 'restarted' ? 'replaced' : outcome)
        return answers
      } catch (thrown) {
        const code = thrown instanceof WakefulError ? thrown.code : null
        const isCacheStale = (code === 'invalid_rule' && attempt === 1) || code === 'conflict'
        if (!isCacheStale || attempt >= SET_ATTEMPTS_MAX) throw thrown
      }
      await store.readCalendars()
    }
  }

  /** Items without a target get the default target of their owner, if there is one. */
  async #withDefaultTarget(items: readonly SetManyItem[]): Promise<readonly SetManyItem[]> {
    if (items.every(({ target }) => target !== undefined)) return items
    if (!(await this.hasDefaultTarget())) return items
    return items.map((item) => ({ ...item, target: item.target ?? DEFAULT_SPEC }))
  }

  /** Builds an alarm, and adds its rule to those that must be admitted. */
  #request(
    { when, timezone, paused, ...options }: SetManyItem,
    declaredBy: string | null,
    { now, newId }: Context,
    rules: ResolvedRule[],
    judge: NameJudge,
  ): SetRequest {
    if (paused !== undefined && paused !== false)
      throw new WakefulError('set.paused', { value: display(paused) }, { field: 'paused' })
    const calendars = this.calendars.lookup
    const whenContext = this.whenContext(timezone, now)
    const resolved = resolveWhen(when, whenContext)
    if (this.#admit !== undefined) rules.push(resolvedRule(resolved, whenContext))
    const notes = [...resolved.notes, ...judge(options)]
    const chosen = { createdVia: this.library.createdVia, ...options }
    const fieldContext = { ...this.library.fieldContext, newId, calendars }
    const alarm = buildAlarm(this.scope, { ...resolved, notes }, chosen, now, fieldContext)
    const timer = firstTimer(alarm, resolved)
    return { alarm: declaredBy === null ? alarm : { ...alarm, declaredBy }, timer, resumes: paused === false }
  }

  /** Reschedules an alarm, and edits it in the same change. */
  #reschedule(
    snapshot: Snapshot,
    when: When,
    zone: string | undefined,
    fields: Partial<Alarm>,
    context: Context,
    ofTargets: readonly string[],
  ): Change {
    const calendars = this.calendars.lookup
    const whenContext = this.#zoned(snapshot, zone, context)
    const nextTick = snapshot.timers.find(({ kind }) => kind === 'due')?.tick ?? 1
    const before = snapshot.alarm.rule
    const resolved = resolveReschedule(before, when, whenContext, nextTick - 1)
    this.#admit?.([resolvedRule(resolved, whenContext)], context.now)
    const { rule, first, nominal } = resolved
    const notes = [...resolved.notes, ...ofTargets]
    const alarm = { ...snapshot.alarm, ...fields, rule, calendars: namedBy(rule, calendars), notes }
    return replace(snapshot, { alarm, first, nominal }, 'reschedule', context)
  }

  /** A time is read in the zone of the alarm, unless the caller names another. */
  #zoned({ alarm }: Snapshot, timezone: string | undefined, { now }: Context): WhenContext {
    return this.whenContext(timezone === undefined ? alarm.rule.timezone : timezone, now)
  }

  #action(call: string, decide: Decision) {
    return (alarm: AlarmRef, options: SeenOptions = {}) => this.#edit(call, alarm, options, decide)
  }

  async #edit(
    call: string,
    alarm: AlarmRef,
    options: SeenOptions,
    decide: Decision,
    occurrenceId?: string,
  ): Promise<AlarmView> {
    const seen = seenAt(checked<SeenOptions>(call, options, SEEN))
    const edit = (snapshot: Snapshot, context: Context) => ({
      change: decide(snapshot, context),
      answer: null,
    })
    const [edited] = (await this.#editStored({ ...this.named(alarm), occurrenceId }, edit, { seen })).results
    if (edited === undefined) throw notFound(alarm)
    this.#notifyChange(edited.snapshot)
    return viewOf(edited.snapshot)
  }

  #report(
    call: 'complete' | 'fail',
    alarm: AlarmRef,
    [field, value]: readonly [string, string],
    options: { occurrenceId?: string },
  ): Promise<AlarmView> {
    const { occurrenceId } = checked<typeof options>(call, options, OCCURRENCE)
    if (occurrenceId !== undefined) this.name('occurrenceId', occurrenceId)
    const text = assertText(field, value, this.library.limits.messageBytesMax)
    const decide: Decision = (snapshot, context) =>
      report(snapshot, { ok: call === 'complete', text, ...options }, context)
    return this.#edit(call, alarm, {}, decide, occurrenceId)
  }

  async #cancelWhich(
    which: Selector,
    { mayCancel = () => true, isUndeclared = false, ...options }: CancelOptions = {},
  ) {
    const decide = (snapshot: Snapshot, context: Context): Decided<CancelOutcome> => {
      if (!mayCancel(snapshot)) return { change: {}, answer: 'ended' }
      const { change, outcome } = (isUndeclared ? undeclare : cancel)(snapshot, context)
      return { change, answer: outcome }
    }
    const edited = await this.#editStored(which, decide, options)
    this.library.logNotifier.notify(this.scope)
    return edited
  }

  async #cancelAll(which: (after: Serial) => Selector, options: CancelOptions) {
    // Counted from the results, not in `decide`, which a store may call twice.
    const counts = { cancelled: 0, firing: 0, ended: 0 }
    for (let after: Serial | null = 0; after !== null; ) {
      const { results, next } = await this.#cancelWhich(which(after), options)
      for (const { answer } of results) counts[answer] += 1
      after = next
    }
    return { cancelled: counts.cancelled, firing: counts.firing }
  }

  /** Edits stored alarms, if they have not changed since the caller read them. */
  #editStored<A>(
    which: Selector,
    decide: (snapshot: Snapshot, context: Context) => Decided<A>,
    { tx, seen }: EditOptions,
  ) {
    const { store, observer } = this.library
    const context = this.library.context()
    const decideCurrent: Decide<A> = (snapshot) => {
      assertCurrent(snapshot.alarm, seen)
      return decide(snapshot, context)
    }
    return store
      .edit(this.scope, which, decideCurrent, context, tx)
      .catch((thrown: unknown) => reportAndRethrow(observer, 'edit', thrown))
  }

  #setViewOf({ outcome, snapshot }: SetResult): SetView {
    const view = viewOf(snapshot)
    if (outcome === 'deduped') return { ...view, deduped: true }
    if (outcome === 'unchanged') return { ...view, unchanged: true }
    // A new alarm has no event in the log yet, so readers are not notified.
    if (outcome === 'created') this.#hint(snapshot)
    else this.#notifyChange(snapshot)
    return outcome === 'created' ? view : { ...view, replaced: true }
  }

  #notifyChange(snapshot: Snapshot): void {
    this.#hint(snapshot)
    this.library.logNotifier.notify(this.scope)
  }

  #hint({ timers }: Snapshot): void {
    for (const timer of timers) this.library.engine.hint(timer.wakeAt)
  }
}
