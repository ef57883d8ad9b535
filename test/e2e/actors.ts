import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach } from 'vitest'
import type { AlarmView, OpenOptions } from '../../src/index.ts'

/** What a test asks an actor to do. */
export interface Call {
  readonly id: number
  readonly name: 'start' | 'set' | 'get' | 'cancel' | 'stats' | 'isOwner' | 'usage' | 'close'
  readonly args: readonly unknown[]
}

/** A delivery as the actor's handler saw it. */
export interface Delivery {
  readonly type: 'fire'
  readonly at: number
  readonly message: string
  readonly occurrenceId: string
  readonly due: number
  readonly attempt: number
}

/** What an actor reports. */
export type Message =
  | { readonly type: 'ready' }
  | { readonly type: 'failed'; readonly error: { readonly code: string; readonly text: string } }
  | Delivery
  | { readonly type: 'engine error'; readonly text: string }
  | {
      readonly type: 'answer'
      readonly id: number
      readonly value?: unknown
      readonly error?: { readonly code: string; readonly text: string }
    }

/** How an actor is started: as another user, or with shell commands first. */
export interface Stage {
  readonly uid?: number
  /** Shell commands that run first, such as a limit. */
  readonly before?: string
  readonly cwd?: string
}

const ACTOR = fileURLToPath(new URL('./actor.ts', import.meta.url))
const SIGNAL_MS_MAX = 20_000

const actors: Actor[] = []
const directories: string[] = []

afterEach(async () => {
  for (const actor of actors.splice(0)) await actor.kill()
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true })
})

/** A database path in a directory that is removed with the test. */
export function newPath(name = 'alarms.db'): string {
  const directory = mkdtempSync(join(tmpdir(), 'wakeful-e2e-'))
  directories.push(directory)
  return join(directory, name)
}

/** Starts a process on the store. It ends with the test. */
export async function enter(path: string, options: OpenOptions = {}, stage: Stage = {}): Promise<Actor> {
  const actor = new Actor(path, options, stage)
  actors.push(actor)
  await actor.ready
  return actor
}

/** The same, with its engine started. */
export async function enterRunning(
  path: string,
  options: OpenOptions = {},
  stage: Stage = {},
): Promise<Actor> {
  const actor = await enter(path, options, stage)
  await actor.call('start')
  return actor
}

/** An error that crossed the channel. */
class ActorError extends Error {
  readonly code: string

  constructor(error: { code: string; text: string }) {
    super(error.text)
    this.code = error.code
  }
}

/** A real process on a store, and what it reported. */
export class Actor {
  readonly child: ChildProcess
  readonly ready: Promise<void>
  readonly fires: Delivery[] = []
  readonly errors: string[] = []
  readonly #events = new EventEmitter()
  #calls = 0

  constructor(path: string, options: OpenOptions, stage: Stage) {
    // Many fires are awaited at once.
    this.#events.setMaxListeners(0)
    const command = [process.execPath, ACTOR, path, JSON.stringify(options)]
    const [file, ...args] =
      stage.before === undefined ? command : ['/bin/sh', '-c', `${stage.before}; exec "$@"`, 'sh', ...command]
    this.child = spawn(file!, args, {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      ...(stage.cwd !== undefined && { cwd: stage.cwd }),
      ...(stage.uid !== undefined && { uid: stage.uid, gid: stage.uid }),
    })
    this.child.on('message', (message: Message) => this.#receive(message))
    this.ready = new Promise((resolve, reject) => {
      this.#events.once('ready', resolve)
      this.#events.once('failed', (error: { code: string; text: string }) => reject(new ActorError(error)))
      this.child.once('exit', (code, signal) => reject(new Error(`the actor ended early: ${code ?? signal}`)))
    })
    this.ready.catch(() => {})
  }

  get pid(): number {
    return this.child.pid!
  }

  /** Asks for something and waits for the answer. A refusal is thrown as it was. */
  async call<T = unknown>(name: Call['name'], ...args: unknown[]): Promise<T> {
    this.#calls += 1
    const id = this.#calls
    const answered = this.#once(`answer ${id}`)
    // A dead process receives nothing: the wait for its answer fails.
    this.child.send({ id, name, args } satisfies Call, () => {})
    const { value, error } = (await answered) as Message & { type: 'answer' }
    if (error !== undefined) throw new ActorError(error)
    return value as T
  }

  /** Sets an alarm this many milliseconds from now. */
  set(delayMs: number, more: object = {}): Promise<AlarmView> {
    return this.call<AlarmView>('set', delayMs, more)
  }

  /** The next or a previous delivery with this message. */
  async fired(message: string, withinMs = SIGNAL_MS_MAX): Promise<Delivery> {
    const known = this.fires.find((fire) => fire.message === message)
    return known ?? ((await this.#once(`fire ${message}`, withinMs)) as Delivery)
  }

  /** The next error of its engine. */
  async troubled(): Promise<string> {
    return (await this.#once('engine error')) as string
  }

  /** Waits until its reported state satisfies a condition. */
  async until(name: Call['name'], args: readonly unknown[], fits: (value: never) => boolean): Promise<void> {
    const end = performance.now() + SIGNAL_MS_MAX
    while (!fits((await this.call(name, ...args)) as never)) {
      if (performance.now() > end) throw new Error(`${name} did not reach the expected state`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  /** Kills it and waits until it is gone. */
  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const exited = once(this.child, 'exit')
    this.child.kill('SIGKILL')
    await exited
  }

  #receive(message: Message): void {
    if (message.type === 'fire') {
      this.fires.push(message)
      this.#events.emit(`fire ${message.message}`, message)
    } else if (message.type === 'engine error') {
      this.errors.push(message.text)
      this.#events.emit('engine error', message.text)
    } else if (message.type === 'answer') this.#events.emit(`answer ${message.id}`, message)
    else if (message.type === 'failed') this.#events.emit('failed', message.error)
    else this.#events.emit('ready')
  }

  async #once(event: string, withinMs = SIGNAL_MS_MAX): Promise<unknown> {
    const [value] = await once(this.#events, event, { signal: AbortSignal.timeout(withinMs) }).catch(() => {
      throw new Error(`no "${event}" within ${withinMs} ms`)
    })
    return value
  }
}
