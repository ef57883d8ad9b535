import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open } from '../../../src/index.ts'
import type { Broken } from '../../judge/entries.ts'
import { type Judgement, judge } from '../../judge/judge.ts'
import { type PostgresServer, startPostgres } from '../../postgres/server.ts'
import { Random } from '../../random.ts'
import { Ledger, LedgerTail } from '../ledger.ts'
import { ask, postgresDamage, postgresEvidence, postgresMoment } from '../postgres-evidence.ts'
import { AUDIT, NOTES } from './audit.ts'
import { type ClockShift, clockShift } from './clock-shift.ts'
import { type Member, ProcessGroup } from './process-group.ts'
import { type FreezeAt, Wire } from './wire.ts'

/** The number of each fault in a campaign. */
export interface Faults {
  readonly kills: number
  /** Immediate restarts of the server. */
  readonly restarts: number
  /** Connections closed by the server. */
  readonly cuts: number
  /** Connections that become half open. */
  readonly halfOpens: number
  /** Pauses of a process for longer than its lease, concurrent with all other faults. */
  readonly pauses: number
}

/** Options of a campaign on PostgreSQL. */
export interface PostgresCampaignOptions extends Faults {
  readonly seed: number
  /** It also continues until this many alarms were set. */
  readonly alarms: number
  readonly processes?: number
  /** Whether the last process's wall clock is wrong by an hour, alternately ahead and behind. */
  readonly shiftsClock?: boolean
  readonly onFault?: (text: string) => void
  readonly keep?: (directory: string) => void
}

/** The result of a campaign. */
export interface PostgresCampaignResult extends Judgement {
  readonly damage: readonly string[]
}

type Fault = 'kill' | 'restart' | 'cut' | 'half_open'

const DRAIN_MS_MAX = 120_000
const PAUSE_MS_MIN = 6_500
const PAUSE_MS_MAX = 8_000
/** A half-open connection that is unnoticed for longer than this is a bug. */
const HALF_OPEN_MS = 45_000
const RESTART_MS = 10_000
const CUT_MS = 5_000
/** How long to look for a process with work in flight. */
const AIM_MS_MAX = 8_000
const PROBE_MS = 250
const STALL_MS = 1_000

/** Injects all faults into three processes on one database, then drains it and judges the result. */
export async function postgresCampaign(options: PostgresCampaignOptions): Promise<PostgresCampaignResult> {
  const directory = mkdtempSync(join(tmpdir(), 'wakeful-pgchaos-'))
  const shift = options.shiftsClock === true ? clockShift() : null
  const server = await startPostgres()
  const url = server.url('chaos')
  const wires: Wire[] = []
  let found = true
  try {
    await ask(server.url(), 'CREATE DATABASE chaos')
    await (await open(url)).close()
    await ask(url, AUDIT)
    for (let slot = 0; slot < (options.processes ?? 3); slot++) wires.push(await Wire.start(server.port))
    const ledgerPath = join(directory, 'ledger')
    await new Storm(server, ledgerPath, wires, shift, options).run()
    const result = { ...judge(await postgresEvidence(url, ledgerPath)), damage: await postgresDamage(url) }
    found = result.violations.length + result.damage.length > 0
    if (found) await writeNotes(url, join(directory, 'notes'))
    return result
  } finally {
    for (const wire of wires) wire.close()
    shift?.close()
    await server.stop()
    if (found && options.keep !== undefined) options.keep(directory)
    else rmSync(directory, { recursive: true, force: true })
  }
}

/** Saves the database's records beside the ledger, because the server is gone later. */
async function writeNotes(url: string, path: string): Promise<void> {
  const rows = await ask<{ note: string }>(url, NOTES)
  writeFileSync(path, rows.map(({ note }) => `${note}\n`).join(''))
}

/** The faults of a campaign, in order. */
class Storm {
  readonly #server: PostgresServer
  readonly #url: string
  readonly #wires: readonly Wire[]
  readonly #options: PostgresCampaignOptions
  readonly #random: Random
  readonly #ledger: Ledger
  readonly #tail: LedgerTail
  readonly #group: ProcessGroup
  #isOver = false

  constructor(
    server: PostgresServer,
    ledgerPath: string,
    wires: readonly Wire[],
    shift: ClockShift | null,
    options: PostgresCampaignOptions,
  ) {
    this.#server = server
    this.#url = server.url('chaos')
    this.#wires = wires
    this.#options = options
    this.#random = new Random(options.seed)
    this.#ledger = new Ledger(ledgerPath)
    this.#tail = new LedgerTail(ledgerPath)
    this.#group = new ProcessGroup({
      ledgerPath,
      seed: options.seed,
      random: new Random(options.seed + 1),
      // By this machine's clock, which is the server's.
      offsetMs: Date.now() - Number(process.hrtime.bigint() / 1_000n) / 1_000,
      wires,
      shift,
    })
  }

  async run(): Promise<void> {
    const probing = this.#probe()
    try {
      await Promise.all([this.#faults(), this.#pauses()])
      while (this.#tail.read().asked < this.#options.alarms) await pause(200)
      await this.#group.stopCallers()
      await this.#drained()
      await this.#group.close()
      await this.#deadRemoved()
    } finally {
      this.#isOver = true
      this.#group.end()
      await probing
      this.#ledger.close()
    }
  }

  /** The remaining processes must finish the work. The judge reports what is still pending. */
  async #drained(): Promise<void> {
    const end = performance.now() + DRAIN_MS_MAX
    while (performance.now() < end) {
      const [row] = await ask<{ count: string }>(this.#url, 'SELECT count(*) FROM wakeful.timers')
      if (row!.count === '0') return
      await pause(100)
    }
  }

  /**
   * The row of a process may outlive it by a lease: of one killed just now, or if the server executes a heartbeat that
   * the process gave up on after the process has left. The next process to start must remove it.
   */
  async #deadRemoved(): Promise<void> {
    const count = async () => {
      const [row] = await ask<{ count: string }>(this.#url, 'SELECT count(*) FROM wakeful.processes')
      return Number(row!.count)
    }
    if ((await count()) === 0) return
    const next = await open(this.#url)
    await next.start()
    const end = performance.now() + DRAIN_MS_MAX
    while ((await count()) > 1 && performance.now() < end) await pause(100)
    await next.close()
  }

  async #faults(): Promise<void> {
    const { kills, restarts, cuts, halfOpens, onFault } = this.#options
    const faults: Fault[] = [
      ...Array<Fault>(kills).fill('kill'),
      ...Array<Fault>(restarts).fill('restart'),
      ...Array<Fault>(cuts).fill('cut'),
      ...Array<Fault>(halfOpens).fill('half_open'),
    ]
    for (const [index, fault] of this.#shuffled(faults).entries()) {
      this.#group.fill()
      await this.#once(fault)
      onFault?.(`${index + 1}/${faults.length} faults, ${this.#tail.read().asked} alarms, last: ${fault}`)
    }
    this.#group.fill()
  }

  async #once(fault: Fault): Promise<void> {
    for (;;) {
      const member = await this.#victim()
      if (member === null || !this.#group.isAlive(member.slot)) {
        this.#group.fill()
        continue
      }
      if (fault === 'kill') return this.#kill(member)
      if (fault === 'restart') return this.#restart()
      if (fault === 'cut' ? await this.#cut(member) : await this.#halfOpen(member)) return
    }
  }

  /** Usually a process with work in flight; sometimes any, which may still be recovering. */
  async #victim(): Promise<Member | null> {
    const anyone = this.#random.chance(0.15)
    await pause(this.#random.between(0, anyone ? 20 : 500))
    const end = performance.now() + (anyone ? 0 : AIM_MS_MAX)
    do {
      const member = await this.#group.anyReady()
      if (member === null || anyone) return member
      const { inFlight } = await postgresMoment(this.#url, member.child.pid!)
      if (inFlight > 0) return member
      this.#group.fill()
      await pause(10)
    } while (performance.now() < end)
    return this.#group.anyReady()
  }

  async #kill(member: Member): Promise<void> {
    const moment = await postgresMoment(this.#url, member.child.pid!)
    const at = Date.now()
    await this.#group.kill(member)
    const unanswered = this.#tail.read().unanswered.get(member.run) ?? 0
    this.#ledger.write({ type: 'killed', run: member.run, at, ...moment, unanswered })
  }

  /** Restarts the server as after a crash. */
  async #restart(): Promise<void> {
    const moment = await postgresMoment(this.#url, null)
    const at = Date.now()
    await this.#server.crash()
    const lastsMs = Date.now() - at + RESTART_MS
    this.#ledger.write({ type: 'broken', what: 'restart', run: 0, at, lastsMs, ...moment })
  }

  /** The server closes a connection, a busy one if there is one. */
  async #cut({ run, child }: Member): Promise<boolean> {
    const { logEnd } = await postgresMoment(this.#url, child.pid!)
    const at = Date.now()
    const rows = await ask<{ busy: boolean }>(
      this.#url,
      `SELECT pg_terminate_backend(pid), state IS DISTINCT FROM 'idle' AS busy FROM pg_stat_activity
       WHERE application_name = $1 ORDER BY busy DESC, random() LIMIT 1`,
      [`run-${child.pid}`],
    )
    if (rows.length === 0) return false
    const inFlight = rows[0]!.busy ? 1 : 0
    this.#break({ what: 'cut', run, at, lastsMs: CUT_MS, logEnd, inFlight })
    return true
  }

  async #halfOpen({ run, slot, child }: Member): Promise<boolean> {
    const { logEnd } = await postgresMoment(this.#url, child.pid!)
    const at = Date.now()
    const where = this.#random.weighted<FreezeAt>([
      [3, 'request'],
      [3, 'answer'],
      [3, 'commit'],
      [2, 'listener'],
    ])
    if (!(await this.#wires[slot]!.freezeNext(where, 5_000))) return false
    const inFlight = where === 'listener' ? 0 : 1
    this.#break({ what: 'half_open', run, at, lastsMs: HALF_OPEN_MS, logEnd, inFlight })
    return true
  }

  /** Concurrent with all other faults: pauses a process until others have taken over, then continues it. */
  async #pauses(): Promise<void> {
    for (let done = 0; done < this.#options.pauses; ) {
      await pause(this.#random.between(300, 1_000))
      const member = await this.#victim().catch(() => null)
      if (member === null) continue
      const moment = await postgresMoment(this.#url, member.child.pid!)
      if (!this.#group.isAlive(member.slot)) continue
      const stopped = this.#group.stop(member, this.#random.between(PAUSE_MS_MIN, PAUSE_MS_MAX))
      this.#ledger.write({ type: 'process_paused', run: member.run, ...moment })
      await stopped
      done += 1
      this.#options.onFault?.(`${done}/${this.#options.pauses} stops`)
    }
  }

  /** Records when the machine delays the store, which is not Wakeful's fault. */
  async #probe(): Promise<void> {
    await ask(this.#url, 'CREATE TABLE chaos_probe (at bigint)')
    while (!this.#isOver) {
      const at = Date.now()
      await ask(this.#url, 'INSERT INTO chaos_probe VALUES ($1)', [at]).catch(() => {})
      const elapsedMs = Date.now() - at
      const stall = { what: 'stall', run: 0, at, lastsMs: elapsedMs + 5_000, logEnd: 0, inFlight: 0 } as const
      if (elapsedMs > STALL_MS) this.#break(stall)
      await pause(PROBE_MS)
    }
  }

  #break(broken: Omit<Broken, 'type'>): void {
    this.#ledger.write({ type: 'broken', ...broken })
  }

  #shuffled<T>(items: readonly T[]): T[] {
    const keyed = items.map((item) => ({ item, key: this.#random.next() }))
    return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item)
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
