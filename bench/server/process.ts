import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** A message of a child process: one line of JSON. */
export type Message = Readonly<Record<string, unknown>>

const running = new Set<ChildProcess>()
// A benchmark that is interrupted must not leave its servers behind.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** A process of the benchmark, which prints messages as lines of JSON. */
export class BenchProcess {
  readonly #child: ChildProcess
  readonly #messages: Message[] = []
  readonly #waiting: ((message: Message) => void)[] = []
  readonly #exited: Promise<void>

  /** Starts a Node program. Its stderr is shown. */
  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.#child = spawn(process.execPath, args, {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, ...env },
    })
    running.add(this.#child)
    this.#exited = new Promise((resolve) => {
      this.#child.once('exit', () => {
        running.delete(this.#child)
        resolve()
      })
    })
    createInterface({ input: this.#child.stdout! }).on('line', (line) => this.#receive(line))
  }

  /** The next message it prints. */
  nextMessage(): Promise<Message> {
    const message = this.#messages.shift()
    if (message !== undefined) return Promise.resolve(message)
    const args = this.#child.spawnargs.slice(1).join(' ')
    return Promise.race([
      new Promise<Message>((resolve) => void this.#waiting.push(resolve)),
      this.#exited.then(() => Promise.reject(new Error(`A process of the benchmark exited early: ${args}`))),
    ])
  }

  /** Writes a line of JSON to its stdin. */
  send(message: unknown): void {
    this.#child.stdin!.write(`${JSON.stringify(message)}\n`)
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM')
    await this.#exited
  }

  #receive(line: string): void {
    // `wakeful serve` prints its address for people.
    const url = /^HTTP API: (\S+)/.exec(line)?.[1]
    if (url === undefined && !line.startsWith('{')) return
    const message = url === undefined ? (JSON.parse(line) as Message) : { url }
    const waiting = this.#waiting.shift()
    if (waiting === undefined) this.#messages.push(message)
    else waiting(message)
  }
}
