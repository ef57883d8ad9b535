import type { DeliveryOutcome } from '../alarm/index.ts'
import { errorText } from '../error.ts'
import type { ClaimedTimer } from '../stores/index.ts'
import {
  type Delivery,
  DeliveryFailure,
  type DeliveryReceipt,
  type Dispatcher,
  Postponed,
} from '../targets/index.ts'
import { type Clock, formatDuration } from '../time/index.ts'

/** Why an attempt was broken off. */
export type Break = 'timeout' | 'lost' | 'drain'

/** One attempt at delivering one occurrence, bounded in time. */
export class Attempt implements Delivery {
  readonly claimed: ClaimedTimer
  readonly alarm: Delivery['alarm']
  readonly timer: Delivery['timer']
  readonly firedAt: number
  tx: unknown = undefined
  readonly #dispatcher: Dispatcher
  readonly #clock: Clock
  readonly #startedAt: number
  #controller: AbortController | null = null
  #brokenBy: Break | null = null
  #onBreak: ((outcome: DeliveryOutcome) => void) | null = null

  constructor(claimed: ClaimedTimer, dispatcher: Dispatcher, clock: Clock) {
    this.claimed = claimed
    this.alarm = claimed.alarm
    this.timer = claimed.timer
    this.firedAt = clock.now()
    this.#dispatcher = dispatcher
    this.#clock = clock
    this.#startedAt = clock.monotonic()
  }

  get ageMs(): number {
    return this.#clock.monotonic() - this.#startedAt
  }

  /** Created only when it is read: most handlers never do. */
  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController()
      if (this.#brokenBy !== null) this.#controller.abort(this.#brokenBy)
    }
    return this.#controller.signal
  }

  /** Delivers, and answers the outcome; never throws. */
  run(): Promise<DeliveryOutcome> {
    if (this.#brokenBy !== null) return Promise.resolve({ kind: 'released' })
    return new Promise((resolve) => {
      const { target, timeoutMs } = this.alarm
      const limitMs = timeoutMs ?? this.#dispatcher.timeoutMs(target)
      const cancelTimer = this.#clock.setTimer(limitMs, () =>
        this.break('timeout', `no answer within ${formatDuration(limitMs)}`),
      )
      const done = (outcome: DeliveryOutcome) => {
        // Also when it was broken off: a timer that is left would keep the process alive.
        cancelTimer()
        resolve(outcome)
      }
      this.#onBreak = done
      this.#deliver().then(
        ({ report }) => done({ kind: 'delivered', firedAt: this.firedAt, endedAt: this.#endedAt(), report }),
        (thrown: unknown) => done(this.#failed(thrown)),
      )
    })
  }

  /** A target that throws at once fails like one that rejects. */
  #deliver(): Promise<DeliveryReceipt> {
    try {
      return this.#dispatcher.deliver(this)
    } catch (thrown) {
      return Promise.reject(thrown)
    }
  }

  /** Ends the attempt from outside: its signal is aborted, and the target's answer is not waited for. */
  break(by: Break, error = ''): void {
    if (this.#brokenBy !== null) return
    this.#brokenBy = by
    this.#controller?.abort(by)
    this.#onBreak?.(by === 'timeout' ? this.#failed(new Error(error)) : { kind: 'released' })
  }

  #failed(thrown: unknown): DeliveryOutcome {
    if (isA(Postponed, thrown))
      return { kind: 'released', until: this.#clock.now() + Math.ceil(thrown.waitMs) }
    const failure = {
      kind: 'failed',
      firedAt: this.firedAt,
      endedAt: this.#endedAt(),
      error: errorText(thrown),
    } as const
    if (!isA(DeliveryFailure, thrown)) return failure
    const { final, gone, retryAfterMs } = thrown
    return { ...failure, final, ...(gone && { gone }), ...(retryAfterMs !== undefined && { retryAfterMs }) }
  }

  /** A wall clock that was set back must not make a duration negative. */
  #endedAt(): number {
    return Math.max(this.firedAt, this.#clock.now())
  }
}

/** A handler may throw anything, even a proxy that throws on every access. */
function isA<T>(kind: new (...args: never) => T, thrown: unknown): thrown is T {
  try {
    return thrown instanceof kind
  } catch {
    return false
  }
}
