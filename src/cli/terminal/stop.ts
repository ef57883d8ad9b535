import type { Terminal } from './terminal.ts'

const ALIVE_MS = 3_600_000
/** npm forwards a Ctrl-C that the terminal has sent already. A signal this soon after the first is not a second one. */
const ECHO_MS = 300

/** Ctrl-C and SIGTERM: the first asks for a shutdown, the second exits at once. It keeps the process alive until then. */
export class Stop {
  readonly unlisten: () => void
  /** Resolves at the first signal, with its name. */
  readonly asked: Promise<string>
  /** Aborted at the first signal. */
  readonly signal: AbortSignal

  readonly #terminal: Terminal
  #deadline: NodeJS.Timeout | undefined

  constructor(terminal: Terminal) {
    this.#terminal = terminal
    const abort = new AbortController()
    const asked = Promise.withResolvers<string>()
    this.signal = abort.signal
    this.asked = asked.promise
    let askedAt = Number.POSITIVE_INFINITY
    const unlisten = terminal.onSignal((name) => {
      if (terminal.monotonic() - askedAt > ECHO_MS) terminal.exit(1)
      if (abort.signal.aborted) return
      askedAt = terminal.monotonic()
      abort.abort()
      asked.resolve(name)
    })
    // Waiting for events of other processes does not keep a process alive.
    const alive = setInterval(() => {}, ALIVE_MS)
    this.unlisten = () => {
      clearInterval(alive)
      clearTimeout(this.#deadline)
      unlisten()
    }
  }

  /** Exits after `ms`, even if the shutdown has not finished. Nothing durable depends on it. */
  endWithin(ms: number, onLate: () => void): void {
    this.#deadline = setTimeout(() => {
      onLate()
      this.#terminal.exit(1)
    }, ms)
  }
}
