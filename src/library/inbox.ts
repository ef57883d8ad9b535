import { assertInteger, assertName, assertText, checked, type Scope } from '../alarm/index.ts'
import { WakefulError } from '../error.ts'
import type { InboxWake } from '../stores/index.ts'
import { durationOf } from '../time/index.ts'
import type { Alarms } from './api.ts'
import type { LibraryContext } from './context.ts'
import type { Inbox, TakeOptions, WakeReport, WakeView } from './resources.ts'

const TAKE = { wait: true, hold: true, limit: true, signal: true } as const
const REPORT = { complete: true, fail: true, tries: true } as const
const WAIT_MS_MAX = 60_000
const HOLD = '60s'
const HOLD_MS_MAX = 3_600_000
const LIMIT = 10
const LIMIT_MAX = 100
/** How often an inbox is read while it is waited for: no notification comes when another process's hold runs out. */
const READ_EVERY_MS = 1_000

/** One owner's inbox: the wakes of its alarms with the target `inbox` (promise: isolated). */
export class OwnInbox implements Inbox {
  readonly #library: LibraryContext
  readonly #scope: Scope
  readonly #reports: Pick<Alarms, 'complete' | 'fail'>

  constructor(library: LibraryContext, scope: Scope, reports: Pick<Alarms, 'complete' | 'fail'>) {
    this.#library = library
    this.#scope = scope
    this.#reports = reports
  }

  async take(options: TakeOptions = {}): Promise<WakeView[]> {
    const { waitMs, holdMs, limit, signal } = takeOf(options)
    const { store, clock, logNotifier } = this.#library
    const until = clock.monotonic() + waitMs
    const unwatch = logNotifier.watch()
    try {
      for (;;) {
        // Begun before the read, so that no notification is missed.
        const pause = this.#pause(until, signal)
        try {
          const wakes = await store.claimWakes(this.#scope, { now: clock.now(), holdMs, limit })
          const isOver = clock.monotonic() >= until || signal?.aborted === true || logNotifier.isClosed
          if (wakes.length > 0 || isOver) return wakes.map(viewOf)
          await pause.over
        } finally {
          pause.forget()
        }
      }
    } finally {
      unwatch()
    }
  }

  async ack(occurrenceId: string, report: WakeReport = {}): Promise<void> {
    assertName('occurrenceId', occurrenceId, this.#library.limits.nameBytesMax)
    const { complete, fail, tries } = checked<WakeReport>('ack', report, REPORT)
    if (complete !== undefined && fail !== undefined)
      throw new WakefulError('inbox.both_reports', {}, { field: 'complete' })
    if (tries !== undefined) assertInteger('tries', tries, 1, null)
    // Before the wake is removed: a wrong report must leave it reserved for the caller, who corrects the report.
    const { messageBytesMax } = this.#library.limits
    if (complete !== undefined) assertText('complete', complete, messageBytesMax)
    if (fail !== undefined) assertText('fail', fail, messageBytesMax)
    const { store } = this.#library
    // One that was not handed out is a later attempt: the caller acknowledges an earlier one, and has not seen this.
    const wake = await store.removeWake(this.#scope, occurrenceId, tries ?? 1, tries)
    if (wake === null)
      throw new WakefulError('inbox.wake_not_found', {
        occurrence: JSON.stringify(occurrenceId.slice(0, 200)),
      })
    try {
      if (complete !== undefined) await this.#reports.complete(wake.alarmId, complete, { occurrenceId })
      if (fail !== undefined) await this.#reports.fail(wake.alarmId, fail, { occurrenceId })
    } catch (thrown) {
      // An alarm that awaits no report needs none. If the store failed, the wake must not be lost.
      if (thrown instanceof WakefulError && NO_REPORT_AWAITED.has(thrown.code)) return
      await store.putWake(wake, Number.MAX_SAFE_INTEGER)
      throw thrown
    }
  }

  /** Ends when this owner's log has grown, or it is time to read again. */
  #pause(until: number, signal: AbortSignal | undefined): { over: Promise<void>; forget: () => void } {
    const { logNotifier, clock } = this.#library
    const stop = new AbortController()
    const either = signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal])
    const waitMs = Math.max(0, Math.min(READ_EVERY_MS, until - clock.monotonic()))
    const cancel = clock.setTimer(waitMs, () => stop.abort())
    const forget = () => {
      cancel()
      stop.abort()
    }
    return { over: logNotifier.next(this.#scope, either), forget }
  }
}

/** Validates the options of a take. */
export function takeOf(options: TakeOptions) {
  const { wait = '0s', hold = HOLD, limit = LIMIT, signal } = checked<TakeOptions>('take', options, TAKE)
  const holdMs = bounded('hold', hold, HOLD_MS_MAX)
  assertInteger('limit', limit, 1, LIMIT_MAX)
  return { waitMs: bounded('wait', wait, WAIT_MS_MAX), holdMs, limit, signal }
}

const NO_REPORT_AWAITED: ReadonlySet<string> = new Set(['already_ended', 'conflict', 'not_found'])

function bounded(name: string, text: string, max: number): number {
  const ms = durationOf(name, text)
  if (ms <= max) return ms
  const expected = `at most ${max / 1000}s`
  throw new WakefulError('field.invalid', { expected, value: text }, { field: name })
}

function viewOf({ occurrenceId, alarmId, arrivedAt, body, tries }: InboxWake): WakeView {
  return {
    occurrenceId,
    alarmId,
    arrivedAt: new Date(arrivedAt),
    tries,
    body: JSON.parse(body),
    bodyJson: body,
  }
}
