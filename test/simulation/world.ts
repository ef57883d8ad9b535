import { errorText } from '../../src/error.ts'
import { parseInstant } from '../../src/time/index.ts'
import { Random } from '../random.ts'
import { AuthoritativeClock } from './authoritative-clock.ts'
import type { Backend } from './backend.ts'
import { NORMAL } from './conditions.ts'
import { FaultCounter, type FaultName, hasEffect, type MarkHit } from './faults.ts'
import { Network, type Point } from './network.ts'
import { type Machine, SimulatedProcess } from './process.ts'
import type { Skew } from './process-clock.ts'
import { seedOf, TimedRandom } from './timed-random.ts'
import { Timeline } from './timeline.ts'
import { Trace, type TraceMode } from './trace.ts'

/** How a world is made. All chance in it comes from the seed. */
export interface WorldOptions {
  readonly seed: number
  /** When it begins (2030-01-01T00:00:00Z). */
  readonly start?: string
  /** Shards per pool. */
  readonly shards?: number
  readonly leaseMs?: number
  readonly heartbeatMs?: number
  /** How often a process sees to what is old (a minute). Where years are to pass, this and the beats come seldom. */
  readonly upkeepMs?: number
  /** What the trace keeps (`lines`). */
  readonly trace?: TraceMode
}

/** When a world begins, where nobody says. */
export const START = '2030-01-01T00:00:00Z'
const UPKEEP_MS = 60_000
const LEASE_MS = 5_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** How far the clocks of machines that are looked after may be off. */
const OFFSET_MS_MAX = 500
const DRIFT_MAX = 0.0002
const WILD_DRIFT_MAX = 0.005

/** Several processes, the network, their store and time: one Node process runs them all, deterministically. */
export class World<B extends Backend = Backend> {
  readonly timeline = new Timeline()
  readonly trace: Trace
  /** What has befallen it. */
  readonly faults = new FaultCounter()
  readonly random: Random
  readonly backend: B
  readonly network: Network
  readonly #options: WorldOptions
  #startedAt: number
  readonly #databaseClock: AuthoritativeClock
  readonly #births = new Map<string, number>()
  readonly #machines = new Map<string, Machine>()
  /** How to take away each ambush that nobody has walked into. */
  readonly #triggers = new Set<() => void>()
  #processes: SimulatedProcess[] = []
  #joined = 0
  /** Told when a process is dead. */
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

  /** The truth, which nobody in the world can read. */
  get now(): number {
    return Math.floor(this.#startedAt + this.timeline.now)
  }

  /** The database's clock, by which alarms fire. It tells the truth until it is stepped. */
  get databaseNow(): number {
    return this.#databaseClock.now()
  }

  /**
   * The latest that a process which still has its lease can take it for by the database's clock: a step back is known with
   * the first beat after it, and who was not answered for a lease starts nothing.
   */
  get latestNow(): number {
    return this.#databaseClock.latest(this.#options.leaseMs ?? LEASE_MS)
  }

  /** The processes that live, the oldest first. */
  get processes(): readonly SimulatedProcess[] {
    return this.#processes
  }

  /** Who lives on a machine: they are counted around, in the order in which they joined. */
  processOn(machine: number): SimulatedProcess | undefined {
    const machines = [...this.#machines.values()]
    const { name } = machines[machine % machines.length] ?? {}
    return this.#processes.find((process) => process.machine.name === name)
  }

  /** A stream of chance that its name and the seed repeat, whatever others draw. */
  randomFor(name: string): Random {
    return new Random(seedOf(this.#options.seed, name))
  }

  /** The same, but by the time at which it is drawn from. */
  timedRandomFor(name: string): Random {
    return new TimedRandom(seedOf(this.#options.seed, name), () => this.timeline.now)
  }

  /** Starts a process on a machine. */
  launch(machine: Machine): SimulatedProcess {
    const birth = (this.#births.get(machine.name) ?? 0) + 1
    this.#births.set(machine.name, birth)
    this.#machines.set(machine.name, machine)
    const name = `${machine.name}.${birth}`
    const onError = (thrown: unknown) => this.note(name, `trouble: ${errorText(thrown)}`)
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

  /** The clocks of a machine that is looked after: off by a little. */
  skew(): Skew {
    const between = (max: number) => (this.random.next() * 2 - 1) * max
    return { offsetMs: between(OFFSET_MS_MAX), drift: between(DRIFT_MAX) }
  }

  /** The clocks of a machine that nobody looks after: days or years off, and half a percent too fast or too slow. */
  wildSkew(): Skew {
    const between = (max: number) => (this.random.next() * 2 - 1) * max
    const offsetMs = between(this.random.chance(0.5) ? 10 * DAY_MS : 10 * 365 * DAY_MS)
    return { offsetMs, drift: between(WILD_DRIFT_MAX) }
  }

  /** Ends a process in the middle of whatever it does: nothing it waits for ever comes back. */
  kill(process: SimulatedProcess): void {
    if (process.isDead) return
    this.#recordFault(process, 'kill')
    this.#remove(process)
  }

  /** Ends a process at its n-th event from now: right before it, or right after. */
  killAtEvent(process: SimulatedProcess, n: number, when: 'before' | 'after'): void {
    const markHit = this.faults.attempt('killAtEvent', process.name)
    this.at(process, n, when, () => {
      if (this.isBusy(process)) markHit()
      this.#remove(process)
    })
  }

  /**
   * Lets something happen right before the n-th event of a process from now, or right after it. Its events are all that it
   * waits for, and the statements that it sends in between: every place where something can befall it is one of them.
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

  /** Kills a process when its next statement of this name is at this point. Nothing it does from there on has an effect. */
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

  /** Ends a process as a deploy does: what is under way may settle, and its shards are given back. */
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

  /** Lets a process join on a machine that is like this one. */
  join(like: Machine): SimulatedProcess {
    this.#joined += 1
    const markHit = this.#recordGlobalFault('join', `${like.name}-${this.#joined}`)
    if (this.#processes.some((process) => this.isBusy(process))) markHit()
    return this.launch({ ...like, name: `${like.name}-${this.#joined}`, skew: this.skew() })
  }

  /** Lets a process leave for good: it is closed, and none comes after it. The last one stays. */
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

  /** Replaces all processes, one after the other, within this time: a rolling deploy. */
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

  /** Stops a process for a while, clocks and all that it waits for excepted. */
  pause(process: SimulatedProcess, ms: number): void {
    this.#recordFault(process, 'pause', `for ${ms} ms`)
    process.pausedUntil = this.timeline.now + ms
  }

  /**
   * Stops a process at its next statement of this name, once that has run, until so much later than now. Where its machine
   * is suspended, its wall clock stands still meanwhile.
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
   * Stops a process for about as long as its lease, while what others acquire takes long: it comes back before, during or
   * after their takeover.
   */
  leaseRace(process: SimulatedProcess, n: number): void {
    const leaseMs = this.#options.leaseMs ?? LEASE_MS
    const ms = leaseMs + 10 * n
    this.#recordFault(process, 'leaseRace', `for ${ms} ms`)
    this.faults.onFault('pause', process.name)
    process.pausedUntil = this.timeline.now + ms
    this.network.slowStatements('acquire.', ms + leaseMs)
  }

  /** Keeps a process from the database for a while. */
  partition(process: SimulatedProcess, ms: number): void {
    const markHit = this.#recordFault(process, 'partition', `for ${ms} ms`)
    this.network.cut(process.name, ms, markHit)
    this.backend.cutOff(process)
  }

  /** Leaves a process's links half open for a while: what it sends is carried out, and no answer comes back. */
  hang(process: SimulatedProcess, ms: number): void {
    const markHit = this.#recordFault(process, 'hang', `for ${ms} ms`)
    this.network.halfOpen(process.name, ms, markHit)
  }

  /** The database is down for a while: all links break, and what nobody had committed is gone. */
  outage(ms: number): void {
    const markHit = this.#recordGlobalFault('outage', `for ${ms} ms`)
    if (this.#processes.some((process) => this.isBusy(process))) markHit()
    this.network.breakAll(ms, markHit)
    this.backend.crash?.()
  }

  /** The disk is full for a while: whatever writes fails, and what reads does not. */
  fillDisk(ms: number): void {
    const markHit = this.#recordGlobalFault('diskFull', `for ${ms} ms`)
    const makeRoom = this.backend.fillDisk?.(markHit)
    if (makeRoom !== undefined) this.in(ms, makeRoom)
  }

  /** A user's transaction locks a shard for a while. */
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

  /** Sets a process's wall clock forward or back. */
  step(process: SimulatedProcess, ms: number): void {
    this.#recordFault(process, Math.abs(ms) < HOUR_MS ? 'clockStep' : 'clockLeap', `by ${ms} ms`)
    process.clock.step(ms)
  }

  /** Sets the wall clock of a machine on which all processes run, and which is the truth here. */
  stepAll(ms: number): void {
    const markHit = this.#recordGlobalFault('databaseStep', `by ${ms} ms`)
    if (this.#processes.some((process) => this.isBusy(process))) markHit()
    this.#startedAt += ms
    for (const process of this.#processes) process.clock.step(ms)
  }

  /** From here on nothing befalls anybody. */
  calm(): void {
    this.network.conditions = NORMAL
    for (const trigger of [...this.#triggers]) this.#disarm(trigger)
    this.note('world', 'calm')
  }

  /** Whether a process is delivering something, or waits for a statement that writes or takes. */
  isBusy({ name }: SimulatedProcess): boolean {
    return this.backend.inFlight(name) > 0 || this.network.isAwaited(name)
  }

  /** Lets something happen in the world so much later. */
  in(delayMs: number, happen: () => void): void {
    this.timeline.in(delayMs, null, happen)
  }

  /** Lets so much time pass. */
  run(ms: number): Promise<void> {
    return this.timeline.runTo(this.timeline.now + ms)
  }

  note(who: string, what: string): void {
    this.trace.note(this.timeline.now, who, what)
  }

  #disarm(trigger: () => void): void {
    trigger()
    this.#triggers.delete(trigger)
  }

  /** Notes what befalls a process, and whether that hits something in flight. */
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

  /** From here on nothing that the process does has an effect; the next one on its machine comes after a while. */
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
