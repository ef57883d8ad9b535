import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Random } from '../../random.ts'
import type { ChildConfig } from './child.ts'
import type { ClockShift } from './clock-shift.ts'
import type { Wire } from './wire.ts'

const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url))
const READY_MS_MAX = 90_000
const CLOSE_MS_MAX = 90_000
const QUIET_MS_MAX = 90_000

/** A process of a campaign. */
export interface Member {
  readonly run: number
  readonly slot: number
  readonly child: ChildProcess
  readonly ready: Promise<void>
}

/** Options of the processes. */
export interface CrowdPorts {
  readonly ledgerPath: string
  readonly seed: number
  readonly random: Random
  readonly offsetMs: number
  /** A proxy for each slot's process, so that a fault of one does not affect the others. */
  readonly wires: readonly Wire[]
  /** Shifts the clock of the last slot's process, back and forth. */
  readonly shift: ClockShift | null
}

/** The processes of a campaign, one per slot. A killed one is replaced. */
export class ProcessGroup {
  readonly #ports: CrowdPorts
  readonly #members: (Member | undefined)[] = []
  readonly #stopped = new Set<number>()
  #runs = 0

  constructor(ports: CrowdPorts) {
    this.#ports = ports
  }

  get #slots(): number[] {
    return [...this.#ports.wires.keys()]
  }

  /** Starts the missing processes. */
  fill(): void {
    for (const slot of this.#slots) if (!this.isAlive(slot)) this.#members[slot] = this.#spawn(slot)
  }

  /** A process that is alive, ready and not paused; null if there is none. */
  async anyReady(): Promise<Member | null> {
    const free = this.#slots.filter((slot) => this.isAlive(slot) && !this.#stopped.has(slot))
    if (free.length === 0) return null
    const member = this.#members[free[this.#ports.random.between(0, free.length - 1)]!]!
    await within(READY_MS_MAX, `run ${member.run}`, member.ready)
    return this.isAlive(member.slot) && !this.#stopped.has(member.slot) ? member : null
  }

  isAlive(slot: number): boolean {
    const child = this.#members[slot]?.child
    return child !== undefined && child.exitCode === null && child.signalCode === null
  }

  async kill({ child }: Member): Promise<void> {
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }

  /** Pauses a process for a while. */
  async stop({ child, slot }: Member, forMs: number): Promise<void> {
    this.#stopped.add(slot)
    child.kill('SIGSTOP')
    await new Promise((resolve) => setTimeout(resolve, forMs))
    child.kill('SIGCONT')
    this.#stopped.delete(slot)
  }

  /** Stops all callers and waits until every call is answered. The processes continue to fire. */
  async stopCallers(): Promise<void> {
    this.fill()
    await Promise.all(
      this.#members.map(async (member) => {
        const { run, child, ready } = member!
        await within(READY_MS_MAX, `run ${run}`, ready)
        // A process that ended instead has recorded why.
        const quiet = Promise.race([once(child.stdout!, 'data'), once(child, 'exit')])
        child.kill('SIGUSR2')
        await within(QUIET_MS_MAX, `the last answer to run ${run}`, quiet)
      }),
    )
  }

  /** Closes all processes. */
  async close(): Promise<void> {
    for (const member of this.#members) {
      const { child, run, slot } = member!
      if (!this.isAlive(slot)) continue
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await within(CLOSE_MS_MAX, `the close of run ${run}`, exited)
    }
  }

  #spawn(slot: number): Member {
    const { ledgerPath, seed, random, offsetMs, wires, shift } = this.#ports
    this.#runs += 1
    const run = this.#runs
    const config: ChildConfig = {
      url: `postgres://postgres@127.0.0.1:${wires[slot]!.port}/chaos`,
      ledgerPath,
      run,
      slot,
      seed: seed + run * 7919,
      // With a short grace period, delays by kills cause misfires, whose skipped ranges must be in the log.
      grace: random.chance(0.3) ? '300ms' : '60s',
      offsetMs,
    }
    const isShifted = slot === wires.length - 1
    const child = spawn(process.execPath, [CHILD, JSON.stringify(config)], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...(isShifted && shift?.env(run % 2 === 0 ? 1 : -1)) },
    })
    const ready = new Promise<void>((resolve, reject) => {
      child.stdout!.once('data', () => resolve())
      child.once('exit', (code, signal) => reject(new Error(`run ${run} ended early: ${code ?? signal}`)))
    })
    ready.catch(() => {})
    return { run, slot, child, ready }
  }

  /** Ends the remaining processes, whatever happened. */
  end(): void {
    for (const member of this.#members) member?.child.kill('SIGKILL')
  }
}

/** Waits for a promise, with a timeout. */
export async function within<T>(ms: number, what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
