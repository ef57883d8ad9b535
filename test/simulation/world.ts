import { errorText } from '../../src/error.ts'
import { parseInstant } from '../../src/time/index.ts'
import { Random } from '../random.ts'
import { AuthoritativeClock } from './authoritative-clock.ts'
import type { Backend } from './backend.ts'
import { FaultCounter, type FaultName, hasEffect, type MarkHit } from './faults.ts'
import { Network, type Point } from './network.ts'
import { type Machine, SimulatedProcess } from './process.ts'
import type { Skew } from './process-clock.ts'
import { seedOf, TimedRandom } from './timed-random.ts'
import { Timeline } from './timeline.ts'
import { Trace, type TraceMode } from './trace.ts'

/** Options of a world. All randomness comes from the seed. */
export interface WorldOptions {
  readonly seed: number
  /** When it begins (2030-01-01T00:00:00Z). */
  readonly start?: string
  /** Shards per pool. */
  readonly shards?: number
  readonly leaseMs?: number
  readonly heartbeatMs?: number
  /** The interval of housekeeping (a minute). In runs of years, it and the heartbeats are rare. */
  readonly upkeepMs?: number
  /** What the trace keeps (`lines`). */
  readonly trace?: TraceMode
}

/** When a world begins by default. */
export const START = '2030-01-01T00:00:00Z'
const UPKEEP_MS = 60_000
const LEASE_MS = 5_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** The clock error of well-maintained machines. */
const OFFSET_MS_MAX = 500
const DRIFT_MAX = 0.0002
const WILD_DRIFT_MAX = 0.005

/** Several processes, the network, their store and time, run deterministically in one Node process. */
export class World<B extends Backend = Backend> {
  readonly timeline = new Timeline()
  readonly trace: Trace
  /** The faults injected so far. */
  readonly faults = new FaultCounter()
  readonly random: Random
  readonly backend: B
  readonly network: Network
  readonly #options: WorldOptions
  #startedAt: number
  readonly #databaseClock: AuthoritativeClock
  readonly #births = new Map<string, number>()
  readonly #machines = new Map<string, Machine>()
  /** How to remove each trigger that has not fired. */
  readonly #triggers = new Set<() => void>()
  #processes: SimulatedProcess[] = []
  #joined = 0
  /** Called when a process is dead. */
  onDeath: (process: SimulatedProcess) => void = () => {}

  constructor(options: WorldOptions, makeBackend: (world: World) => B) {
    this.#options = options
    this.random = new Random(options.seed)
    this.#startedAt = parseInstant(options.start ?? START)
    this.#databaseClock = new AuthoritativeClock(() => this.#startedAt + this.timeline.now)
    this.trace = new Trace(options.trace)
    const { timeline, trace, faults } = this
    this.network = new Network({ timeline, trace, faults, randomFor: (name) => this.timedRandomFor(name) })
    this.backend = makeBackend(this)
  }

  /** True time, which no process can read. */
  get now(): number {
    return Math.floor(this.#startedAt + this.timeline.now)
  }

  /** The database's clock, by which alarms fire. It is correct until it is stepped. */
  get databaseNow(): number {
    return this.#databaseClock.now()
  }

  /**
   * The latest time by the database's clock that a process with a lease may assume. A process learns of a step back
   * with its next heartbeat, and starts nothing if it got no answer for the length of a lease.
   */
  get latestNow(): number {
    return this.#databaseClock.latest(this.#options.leaseMs ?? LEASE_MS)
  }

  /** The live processes, oldest first. */
  get processes(): readonly SimulatedProcess[] {
    return this.#processes
  }

  /** The process on a machine. Machines are numbered in the order in which they joined, modulo their number. */
  processOn(machine: number): SimulatedProcess | undefined {
    const machines = [...this.#machines.values()]
    const { name } = machines[machine % machines.length] ?? {}
    return this.#processes.find((process) => process.machine.name === name)
  }

  /** A random stream that depends only on its name and the seed. */
  randomFor(name: string): Random {
    return new Random(seedOf(this.#options.seed, name))
  }

  /** A random stream that also depends on the time of the draw. */
  timedRandomFor(name: string): Random {
    return new TimedRandom(seedOf(this.#options.seed, name), () => this.timeline.now)
  }

  launch(machine: Machine): SimulatedProcess {
    const birth = (this.#births.get(machine.name) ?? 0) + 1
    this.#births.set(machine.name, birth)
    this.#machines.set(machine.name, machine)
    const name = `${machine.name}.${birth}`
    const onError = (thrown: unknown) => this.note(name, `error: ${errorText(thrown)}`)
    const { timeline, now: wallNow } = this
    const upkeepMs = this.#options.upkeepMs ?? UPKEEP_MS
    const random = this.timedRandomFor(`process ${machine.name}`)
    const process = new SimulatedProcess({ name, machine, random, timeline, wallNow, upkeepMs, onError })
    this.#processes.push(process)
    this.note(name, 'launched')
    timeline.in(0, process, () => {
      void this.#boot(process).catch((thrown: unknown) => {
        this.note(name, `did not boot: ${errorText(thrown)}`)
        this.#remove(process)
      })
    })
    return process
  }

  /** The clock error of a well-maintained machine. */
  skew(): Skew {
    const between = (max: number) => (this.random.next() * 2 - 1) * max
    return { offsetMs: between(OFFSET_MS_MAX), drift: between(DRIFT_MAX) }
  }

  /** The clock error of an unmaintained machine: days or years off, and half a percent too fast or too slow. */
  wildSkew(): Skew {
    const between = (max: number) => (this.random.next() * 2 - 1) * max
    const offsetMs = between(this.random.chance(0.5) ? 10 * DAY_MS : 10 * 365 * DAY_MS)
    return { offsetMs, drift: between(WILD_DRIFT_MAX) }
  }

  /** Kills a process. Nothing it waits for ever resolves. */
  kill(process: SimulatedProcess): void {
    if (process.isDead) return
    this.#recordFault(process, 'kill')
    this.#remove(process)
  }

  /** Kills a process right before or after its n-th event from now. */
  killAtEvent(process: SimulatedProcess, n: number, when: 'before' | 'after'): void {
    const markHit = this.faults.attempt('killAtEvent', process.name)
    this.at(process, n, when, () => {
      if (this.isBusy(process)) markHit()
      this.#remove(process)
    })
  }

  /**
   * Calls back right before or after the n-th event of a process from now. Its events are everything it waits for, and
   * the statements it sends in between, so every point at which a fault can hit it is one of them.
   */
  at(process: SimulatedProcess, n: number, when: 'before' | 'after', happen: () => void): void {
    const last = process.events + n
    const stop = process.listen((event, at) => {
      if (event !== last || at !== when) return
      this.#disarm(stop)
      this.note(process.name, `met ${when} its event ${event}`)
      happen()
    })
    this.#triggers.add(stop)
  }

  /**
   * Kills a process when its next statement of this name is at this point. Nothing it does afterwards has an effect.
   */
  killAtStatement(process: SimulatedProcess, statement: string, point: Point): void {
    const markHit = this.faults.attempt('killAtStatement', process.name)
    const stop = this.network.watch((name, sent, at) => {
      if (name !== process.name || sent !== statement || at !== point) return
      this.#disarm(stop)
      this.note(process.name, `killed at statement: ${statement} ${point}`)
      if (hasEffect(statement) || this.isBusy(process)) markHit()
      this.#remove(process)
    })
    this.#triggers.add(stop)
  }

  /** Closes a process as a deploy does: running deliveries may settle, and its shards are released. */
  async close(process: SimulatedProcess): Promise<void> {
    this.#recordFault(process, 'close')
    await this.#close(process)
  }

  async #close(process: SimulatedProcess): Promise<void> {
    try {
      await process.wakeful.close()
    } catch (thrown) {
      this.note(process.name, `did not close well: ${errorText(thrown)}`)
    }
    this.#remove(process)
  }

  /** Adds a process on a machine with the same settings. */
  join(like: Machine): SimulatedProcess {
    this.#joined += 1
    const markHit = this.#recordGlobalFault('join', `${like.name}-${this.#joined}`)
    if (this.#processes.some((process) => this.isBusy(process))) markHit()
    return this.launch({ ...like, name: `${like.name}-${this.#joined}`, skew: this.skew() })
  }

  /** Removes a process for good: it is closed and not replaced. The last one stays. */
  async leave(process: SimulatedProcess): Promise<void> {
    const { name } = process.machine
    if (this.#machines.size === 1 || this.#machines.get(name) !== process.machine) {
      this.faults.note('leave', false, process.name)
      return
    }
    this.#recordFault(process, 'leave')
    this.#machines.delete(name)
    await this.#close(process)
  }

  /** Replaces all processes one after the other within this time: a rolling deploy. */
  deploy(ms: number): void {
    const markHit = this.#recordGlobalFault('deploy', `within ${ms} ms`)
    const all = this.#processes
    for (const [i, process] of all.entries()) {
      this.in((i * ms) / all.length, () => {
        if (!process.isUp) return
        if (this.isBusy(process)) markHit()
        void this.#close(process)
      })
    }
  }

  /** Pauses a process. Its clocks continue, and so do the statements it waits for. */
  pause(process: SimulatedProcess, ms: number): void {
    this.#recordFault(process, 'pause', `for ${ms} ms`)
    process.pausedUntil = this.timeline.now + ms
  }

  /**
   * Pauses a process once its next statement of this name has run, until `ms` from now. If its machine is suspended,
   * its wall clock stands still meanwhile.
   */
  stall(process: SimulatedProcess, statement: string, ms: number, isSuspended = false): void {
    const markHit = this.faults.attempt('stall', process.name)
    const until = this.timeline.now + ms
    const stop = this.network.watch((name, ran, at) => {
      if (name !== process.name || ran !== statement || at !== 'ran') return
      this.#disarm(stop)
      if (this.timeline.now >= until) return
      this.note(process.name, `stalls at ${statement}`)
      this.faults.onFault('pause', process.name)
      if (hasEffect(statement) || this.isBusy(process)) markHit()
      process.pausedUntil = until
      if (isSuspended) process.clock.step(this.timeline.now - until)
    })
    this.#triggers.add(stop)
  }

  /**
   * Pauses a process for a little longer than its lease, while takeovers by others are slow. It continues before, during
   * or after their takeover.
   */
  leaseRace(process: SimulatedProcess, pastLeaseMs: number): void {
    const leaseMs = this.#options.leaseMs ?? LEASE_MS
    const ms = leaseMs + pastLeaseMs
    this.#recordFault(process, 'leaseRace', `for ${ms} ms`)
    this.faults.onFault('pause', process.name)
    process.pausedUntil = this.timeline.now + ms
    this.network.slowStatements('acquire.', ms + leaseMs)
  }

  partition(process: SimulatedProcess, ms: number): void {
    const markHit = this.#recordFault(process, 'partition', `for ${ms} ms`)
    this.network.cut(process.name, ms, markHit)
    this.backend.cutOff(process)
  }

  /** Leaves a process's connections half open: its statements run, but no response comes back. */
  hang(process: SimulatedProcess, ms: number): void {
    const markHit = this.#recordFault(process, 'hang', `for ${ms} ms`)
    this.network.halfOpen(process.name, ms, markHit)
  }

  /** Takes the database down: all connections break, and uncommitted changes are lost. */
  outage(ms: number): void {
    const markHit = this.#recordGlobalFault('outage', `for ${ms} ms`)
    if (this.#processes.some((process) => this.isBusy(process))) markHit()
    this.network.breakAll(ms, markHit)
    this.backend.crash?.()
  }

  /** Fills the disk: writes fail, reads do not. */
  fillDisk(ms: number): void {
    const markHit = this.#recordGlobalFault('diskFull', `for ${ms} ms`)
    const freeDisk = this.backend.fillDisk?.(markHit)
    if (freeDisk !== undefined) this.in(ms, freeDisk)
  }

  /** Lets a user's transaction lock a shard. */
  lockShard(n: number, ms: number): void {
    const markHit = this.#recordGlobalFault('shardLocked', `for ${ms} ms`)
    if (this.#processes.some((process) => this.isBusy(process))) markHit()
    const end = this.backend.lockShard?.(n)
    if (end !== undefined) this.in(ms, end)
  }

  /** Sets the database's clock forward or back, as a failover to another server does. */
  stepDatabase(ms: number): void {
    const markHit = this.#recordGlobalFault('databaseStep', `by ${ms} ms`)
    if (this.#processes.some((process) => this.isBusy(process))) markHit()
    this.#databaseClock.step(ms)
  }

  step(process: SimulatedProcess, ms: number): void {
    this.#recordFault(process, Math.abs(ms) < HOUR_MS ? 'clockStep' : 'clockLeap', `by ${ms} ms`)
    process.clock.step(ms)
  }

  /** Sets the wall clock of the machine on which all processes run, which is true time here. */
  stepAll(ms: number): void {
    const markHit = this.#recordGlobalFault('databaseStep', `by ${ms} ms`)
    if (this.#processes.some((process) => this.isBusy(process))) markHit()
    this.#startedAt += ms
    for (const process of this.#processes) process.clock.step(ms)
  }

  /** Ends all faults. */
  calm(): void {
    this.network.calm()
    for (const trigger of [...this.#triggers]) this.#disarm(trigger)
    this.note('world', 'calm')
  }

  /** Whether a process is delivering something, or waits for a statement that writes or claims. */
  isBusy({ name }: SimulatedProcess): boolean {
    return this.backend.inFlight(name) > 0 || this.network.isAwaited(name)
  }

  /** Schedules an event that belongs to no process. */
  in(delayMs: number, happen: () => void): void {
    this.timeline.in(delayMs, null, happen)
  }

  run(ms: number): Promise<void> {
    return this.timeline.runTo(this.timeline.now + ms)
  }

  note(name: string, what: string): void {
    this.trace.note(this.timeline.now, name, what)
  }

  #disarm(trigger: () => void): void {
    trigger()
    this.#triggers.delete(trigger)
  }

  /** Records a fault of a process, and whether it hits something in flight. */
  #recordFault(process: SimulatedProcess, fault: FaultName, how = ''): MarkHit {
    const markHit = this.faults.attempt(fault, process.name)
    if (this.isBusy(process)) markHit()
    this.note(process.name, `${fault} ${how}`)
    return markHit
  }

  #recordGlobalFault(fault: FaultName, how: string): MarkHit {
    this.note('world', `${fault} ${how}`)
    return this.faults.attempt(fault, null)
  }

  /** Removes a dead process. The next one on its machine starts after a while. */
  #remove(process: SimulatedProcess): void {
    if (process.isDead) return
    process.die()
    this.onDeath(process)
    this.note(process.name, 'dead')
    this.#processes = this.#processes.filter((each) => each !== process)
    this.network.forget(process.name)
    this.backend.cutOff(process)
    const { machine } = process
    if (machine.restartMs === undefined || !this.#machines.has(machine.name)) return
    this.in(machine.restartMs, () => {
      if (this.#machines.has(machine.name)) this.launch(machine)
    })
  }

  async #boot(process: SimulatedProcess): Promise<void> {
    await process.boot(await this.backend.connect(process))
    this.note(process.name, 'up')
  }
}
