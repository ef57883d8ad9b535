import type { Terminal } from './terminal.ts'

const ALIVE_MS = 3_600_000
/** Runners such as npm pass on a Ctrl-C that the terminal has sent already: that is no second one. */
const ECHO_MS = 300

/** Ctrl-C and SIGTERM: the first asks to end in order, the second ends at once. Until then the process lives. */
export class Stop {
  /** Stops listening. */
  readonly forget: () => void
  /** Resolves when the end was asked for. */
  readonly asked: Promise<void>
  /** Aborted when the end was asked for. */
  readonly signal: AbortSignal

  readonly #terminal: Terminal
  #deadline: NodeJS.Timeout | undefined

  constructor(terminal: Terminal) {
    this.#terminal = terminal
    const abort = new AbortController()
    const asked = Promise.withResolvers<void>()
    this.signal = abort.signal
    this.asked = asked.promise
    let askedAt = Number.POSITIVE_INFINITY
    const unlisten = terminal.onSignal(() => {
      if (terminal.monotonic() - askedAt > ECHO_MS) terminal.exit(1)
      if (abort.signal.aborted) return
      askedAt = terminal.monotonic()
      abort.abort()
      asked.resolve()
    })
    // Waiting for others to append does not keep a process alive by itself.
    const alive = setInterval(() => {}, ALIVE_MS)
    this.forget = () => {
      clearInterval(alive)
      clearTimeout(this.#deadline)
      unlisten()
    }
  }

  /** Ends the process after so long, also where it cannot end in order: what is durable does not need it to. */
  endWithin(ms: number, onLate: () => void): void {
    this.#deadline = setTimeout(() => {
      onLate()
      this.#terminal.exit(1)
    }, ms)
  }
}
