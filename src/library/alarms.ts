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
  type SetOptions,
  type Snapshot,
  skipNext,
  viewOf,
} from '../alarm/index.ts'
import { WakefulError } from '../error.ts'
import type { Selector, SetRequest } from '../stores/index.ts'
import { resolveWhen, type When } from '../time/index.ts'
import type { Alarms, SeenOptions, SetCallOptions, SetManyItem } from './api.ts'
import { named, notFound, ScopedReads } from './reads.ts'

/** Bulk edits go in chunks, so that others get their turn at the write lock. */
const BULK_CHUNK = 500

/** One owner's alarms: every call carries the scope, and sees nothing else (promise: isolated). */
export class ScopedAlarms extends ScopedReads implements Alarms {
  async set(when: When, options: SetCallOptions = {}): Promise<AlarmView & { deduped?: true }> {
    const { tx, ...rest } = options
    const context = this.around.context()
    const [answer] = await this.around.store.set([this.#request(when, rest, context)], context, tx)
    if (answer!.outcome !== 'deduped') this.#changed(answer!.snapshot)
    const view = viewOf(answer!.snapshot)
    return answer!.outcome === 'deduped' ? { ...view, deduped: true } : view
  }

  async setMany(items: readonly SetManyItem[], options: { tx?: unknown } = {}): Promise<AlarmView[]> {
    const { batchMax } = this.around.limits
    if (!Array.isArray(items))
      throw new WakefulError('invalid_request', 'setMany takes a list of { when, ...options }')
    if (items.length > batchMax)
      throw new WakefulError(
        'invalid_request',
        `${items.length} alarms in one batch; at most ${batchMax} are allowed`,
      )
    const context = this.around.context()
    const requests = items.map(({ when, ...rest }) => this.#request(when, rest, context))
    const answers = await this.around.store.set(requests, context, options.tx)
    for (const { snapshot } of answers) this.#changed(snapshot)
    return answers.map(({ snapshot }) => viewOf(snapshot))
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
      amend(snapshot, editedFields(fields, snapshot.alarm, this.around.workshop), context),
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

  /** What has been delivered and awaits its report is not pending any more. */
  reset() {
    const isPending = (snapshot: Snapshot) => viewOf(snapshot).status !== 'fired'
    return this.#cancelAll((after) => ({ pending: true, limit: BULK_CHUNK, ...after }), undefined, isPending)
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
    const text = assertText('result', result, this.around.limits.messageBytesMax)
    return this.#edit(id, {}, (snapshot, context) =>
      report(snapshot, { ok: true, text, ...options }, context),
    )
  }

  fail(id: string, reason = 'failed', options: { occurrenceId?: string } = {}): Promise<AlarmView> {
    const text = assertText('reason', reason, this.around.limits.messageBytesMax)
    return this.#edit(id, {}, (snapshot, context) =>
      report(snapshot, { ok: false, text, ...options }, context),
    )
  }

  #request(when: When, { timezone, ...options }: SetCallOptions, context: Context): SetRequest {
    const resolved = resolveWhen(when, { now: context.now, timezone: timezone ?? this.around.timezone })
    const alarm = buildAlarm(
      this.scope,
      resolved,
      { createdVia: this.around.createdVia, ...options },
      context.now,
      this.around.workshop,
    )
    return { alarm, timer: firstTimer(alarm, resolved.first) }
  }

  async #edit(
    id: string,
    seen: SeenOptions,
    decide: (snapshot: Snapshot, context: Context) => Change,
  ): Promise<AlarmView> {
    const context = this.around.context()
    const which = { id: named('id', id) }
    const edited = await this.around.store.edit(
      this.scope,
      which,
      (snapshot) => {
        assertSeen(snapshot.alarm, seen.updatedAt?.getTime())
        return { change: decide(snapshot, context), answer: null }
      },
      context,
    )
    if (edited.answers.length === 0) throw notFound(id)
    const after = await this.around.store.get(this.scope, which)
    if (after === null) throw notFound(id)
    this.#changed(after)
    return viewOf(after)
  }

  async #cancelWhich(which: Selector, tx?: unknown) {
    const context = this.around.context()
    const decide = (snapshot: Snapshot) => {
      const { change, outcome } = cancel(snapshot, context)
      return { change, answer: { alarm: viewOf(snapshot), outcome } }
    }
    const { answers } = await this.around.store.edit(this.scope, which, decide, context, tx)
    this.around.bell.ring()
    return answers
  }

  async #cancelAll(
    which: (after: { after?: number }) => Selector,
    tx?: unknown,
    fits = (_: Snapshot) => true,
  ) {
    const context = this.around.context()
    const counts = { cancelled: 0, firing: 0, ended: 0 }
    const decide = (snapshot: Snapshot) => {
      if (!fits(snapshot)) return { change: {}, answer: null }
      const { change, outcome } = cancel(snapshot, context)
      counts[outcome] += 1
      return { change, answer: null }
    }
    let next: number | null = 0
    while (next !== null)
      next = (await this.around.store.edit(this.scope, which({ after: next }), decide, context, tx)).next
    this.around.bell.ring()
    return { cancelled: counts.cancelled, firing: counts.firing }
  }

  #changed(snapshot: Snapshot): void {
    for (const timer of snapshot.timers) this.around.hint(timer.wakeAt)
    this.around.bell.ring()
  }
}
