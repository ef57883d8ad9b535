import type { LogNotifier } from '../log/index.ts'
import type { Store } from '../stores/index.ts'
import type { Clock } from '../time/index.ts'

/** What other processes append does not say whom it concerns, so all who wait look: this often at most. */
const LOOK_EACH_MS = 100

/** Watches for what other processes append, once for all who wait here. */
export class LogWatch {
  readonly #store: Pick<Store, 'onChange'>
  readonly #bell: LogNotifier
  readonly #clock: Clock
  #waiting = 0
  #unwatch: () => void = () => {}
  #cancelLook: (() => void) | null = null
  #isOwed = false

  constructor(store: Pick<Store, 'onChange'>, bell: LogNotifier, clock: Clock) {
    this.#store = store
    this.#bell = bell
    this.#clock = clock
  }

  /** Somebody waits, until the answer is called. */
  add(): () => void {
    if (this.#waiting === 0) this.#unwatch = this.#store.onChange(() => this.#news(), 'log')
    this.#waiting += 1
    return () => {
      this.#waiting -= 1
      if (this.#waiting > 0) return
      this.#unwatch()
      this.#cancelLook?.()
      this.#cancelLook = null
      this.#isOwed = false
    }
  }

  #news(): void {
    if (this.#cancelLook !== null) {
      this.#isOwed = true
      return
    }
    this.#bell.notifyAll()
    this.#cancelLook = this.#clock.setTimer(LOOK_EACH_MS, () => {
      this.#cancelLook = null
      if (!this.#isOwed) return
      this.#isOwed = false
      this.#news()
    })
  }
}
