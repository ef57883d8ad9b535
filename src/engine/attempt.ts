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

/** One try at delivering one occurrence, bounded in time. */
export class Attempt implements Delivery {
  readonly taking: ClaimedTimer
  readonly firedAt: number
  readonly #courier: Dispatcher
  readonly #clock: Clock
  readonly #startedAt: number
  #controller: AbortController | null = null
  #brokenBy: Break | null = null
  #onBreak: ((delivery: DeliveryOutcome) => void) | null = null

  constructor(taking: ClaimedTimer, courier: Dispatcher, clock: Clock) {
    this.taking = taking
    this.firedAt = clock.now()
    this.#courier = courier
    this.#clock = clock
    this.#startedAt = clock.monotonic()
  }

  get alarm() {
    return this.taking.alarm
  }

  get timer() {
    return this.taking.timer
  }

  get tx(): unknown {
    return undefined
  }

  get ageMs(): number {
    return this.#clock.monotonic() - this.#startedAt
  }

  /** Made only when somebody looks at it: most handlers never do. */
  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController()
      if (this.#brokenBy !== null) this.#controller.abort(this.#brokenBy)
    }
    return this.#controller.signal
  }

  /** Delivers, and answers what came of it; never throws. */
  run(errand: Delivery = this): Promise<DeliveryOutcome> {
    if (this.#brokenBy !== null) return Promise.resolve({ kind: 'released' })
    return new Promise((resolve) => {
      const { target, timeoutMs } = this.alarm
      const limitMs = timeoutMs ?? this.#courier.timeoutMs(target)
      const cancelTimer = this.#clock.setTimer(limitMs, () =>
        this.break('timeout', `no answer within ${formatDuration(limitMs)}`),
      )
      const done = (delivery: DeliveryOutcome) => {
        // Also when it was broken off: a timer that is left would keep the process from ending.
        cancelTimer()
        resolve(delivery)
      }
      this.#onBreak = done
      this.#deliver(errand).then(
        ({ report }) => done({ kind: 'delivered', firedAt: this.firedAt, endedAt: this.#endedAt(), report }),
        (thrown: unknown) => done(this.#failed(thrown)),
      )
    })
  }

  /** A target that throws at once fails like one that rejects. */
  #deliver(errand: Delivery): Promise<DeliveryReceipt> {
    try {
      return this.#courier.deliver(errand)
    } catch (thrown) {
      return Promise.reject(thrown)
    }
  }

  /** Ends the attempt from outside: its signal is aborted and what the target still says is not waited for. */
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

/** A handler may throw anything, also what traps every question about it. */
function isA<T>(kind: new (...args: never) => T, thrown: unknown): thrown is T {
  try {
    return thrown instanceof kind
  } catch {
    return false
  }
}
