import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** A process of the benchmark: it says lines of JSON, and ends when it is told to. */
export interface Worker {
  /** The next line it says. */
  next(): Promise<Record<string, unknown>>
  /** Tells it something, as a line of JSON. */
  tell(message: unknown): void
  stop(): Promise<void>
}

/** Starts a process of the benchmark; what it complains about is shown. */
export function startWorker(args: readonly string[], env: Readonly<Record<string, string>> = {}): Worker {
  const child = spawn(process.execPath, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  return new LineWorker(child)
}

class LineWorker implements Worker {
  readonly #child: ChildProcess
  readonly #lines: Record<string, unknown>[] = []
  readonly #waiting: ((line: Record<string, unknown>) => void)[] = []
  readonly #ended: Promise<void>

  constructor(child: ChildProcess) {
    this.#child = child
    this.#ended = new Promise((resolve) => void child.once('exit', () => resolve()))
    createInterface({ input: child.stdout! }).on('line', (text) => {
      // A server says where it listens in words, as it does to people.
      const url = /^HTTP API: (\S+)/.exec(text)?.[1]
      if (url === undefined && !text.startsWith('{')) return
      const line = url === undefined ? (JSON.parse(text) as Record<string, unknown>) : { url }
      const waiting = this.#waiting.shift()
      if (waiting === undefined) this.#lines.push(line)
      else waiting(line)
    })
  }

  next(): Promise<Record<string, unknown>> {
    const line = this.#lines.shift()
    if (line !== undefined) return Promise.resolve(line)
    return Promise.race([
      new Promise<Record<string, unknown>>((resolve) => void this.#waiting.push(resolve)),
      this.#ended.then(() => Promise.reject(new Error('a process of the benchmark has ended early'))),
    ])
  }

  tell(message: unknown): void {
    this.#child.stdin!.write(`${JSON.stringify(message)}\n`)
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM')
    await this.#ended
  }
}
