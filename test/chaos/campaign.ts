import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { type Judgement, judge } from '../judge/judge.ts'
import { Random } from '../random.ts'
import type { ChildConfig } from './child.ts'
import { Ledger, openedBy, readLedger } from './ledger.ts'
import { EFFECTS_TABLE, sqliteDamage, sqliteEvidence, sqliteMoment, sqliteOwner } from './sqlite-evidence.ts'

/** Options of a campaign. */
export interface CampaignOptions {
  readonly kills: number
  readonly seed: number
  /** The number of concurrent processes on the file. One of them is killed each round. */
  readonly processes?: number
  /**
   * The number of process pauses longer than the lease, between the kills. Another process must be there to take over.
   */
  readonly pauses?: number
  readonly onKill?: (done: number, inFlight: number) => void
  /** Keeps the files of a campaign that found something. */
  readonly keep?: (directory: string) => void
}

/** The result of a campaign. */
export interface CampaignResult extends Judgement {
  /** Corruption of the file. */
  readonly damage: readonly string[]
}

const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url))
const READY_MS_MAX = 30_000
const DRAIN_MS_MAX = 60_000
/** Longer than the lease, and shorter than a write waits for a lock of the paused process. */
const PAUSE_MS_MIN = 6_500
const PAUSE_MS_MAX = 8_000

/** Repeatedly kills processes that set and fire on one SQLite file, then drains it and judges the result. */
export async function campaign(options: CampaignOptions): Promise<CampaignResult> {
  const directory = mkdtempSync(join(tmpdir(), 'wakeful-chaos-'))
  const files = { path: join(directory, 'alarms.db'), ledgerPath: join(directory, 'ledger') }
  const db = new DatabaseSync(files.path)
  db.exec(`PRAGMA journal_mode = WAL; ${EFFECTS_TABLE}`)
  db.close()
  const processes = new ProcessGroup(files, options)
  let found = true
  try {
    await processes.run()
    const result = {
      ...judge(sqliteEvidence(files.path, files.ledgerPath)),
      damage: sqliteDamage(files.path),
    }
    found = result.violations.length + result.damage.length > 0
    return result
  } finally {
    processes.end()
    if (found && options.keep !== undefined) options.keep(directory)
    else rmSync(directory, { recursive: true, force: true })
  }
}

interface Member {
  readonly run: number
  readonly child: ChildProcess
  readonly ready: Promise<void>
}

/** The processes of a campaign. */
class ProcessGroup {
  readonly #files: { readonly path: string; readonly ledgerPath: string }
  readonly #options: CampaignOptions
  readonly #random: Random
  readonly #ledger: Ledger
  readonly #members: Member[] = []
  #runs = 0

  constructor(files: { path: string; ledgerPath: string }, options: CampaignOptions) {
    this.#files = files
    this.#options = options
    this.#random = new Random(options.seed)
    this.#ledger = new Ledger(files.ledgerPath)
  }

  async run(): Promise<void> {
    const { kills, processes = 1, pauses = 0, onKill } = this.#options
    let done = 0
    for (const fault of this.#shuffled([...Array(kills).fill('kill'), ...Array(pauses).fill('pause')])) {
      for (let slot = 0; slot < processes; slot += 1)
        if (!this.#lives(slot)) this.#members[slot] = this.#spawn(slot, false)
      if (fault === 'pause') {
        await this.#pauseOwner()
        continue
      }
      done += 1
      const inFlight = await this.#kill(this.#random.between(0, processes - 1))
      onKill?.(done, inFlight)
    }
    for (const slot of this.#members.keys()) if (this.#lives(slot)) await this.#kill(slot)
    const last = this.#spawn(0, true)
    this.#members[0] = last
    await within(DRAIN_MS_MAX, 'the drain', once(last.child, 'exit'))
  }

  /** Ends the remaining processes, whatever happened. */
  end(): void {
    for (const { child } of this.#members) child.kill('SIGKILL')
    this.#ledger.close()
  }

  async #kill(slot: number): Promise<number> {
    const { run, child, ready } = this.#members[slot]!
    await within(READY_MS_MAX, `run ${run}`, ready)
    // Usually during its work; sometimes at once, while it still recovers what the previous process left.
    const delayMs = this.#random.chance(0.15) ? this.#random.between(0, 20) : this.#random.between(50, 700)
    await new Promise((resolve) => setTimeout(resolve, delayMs))
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
    const { logEnd, inFlight } = sqliteMoment(this.#files.path)
    const unanswered = unansweredOf(run, this.#files.ledgerPath)
    this.#ledger.write({ type: 'killed', run, logEnd, inFlight, unanswered })
    return inFlight
  }

  /** Pauses the lease holder until another has taken over, then continues it: its writes must be rejected. */
  async #pauseOwner(): Promise<void> {
    await Promise.all(this.#members.map(({ run, ready }) => within(READY_MS_MAX, `run ${run}`, ready)))
    await new Promise((resolve) => setTimeout(resolve, this.#random.between(200, 700)))
    const member = await this.#owner()
    member.child.kill('SIGSTOP')
    this.#ledger.write({ type: 'process_paused', run: member.run, ...sqliteMoment(this.#files.path) })
    await new Promise((resolve) => setTimeout(resolve, this.#random.between(PAUSE_MS_MIN, PAUSE_MS_MAX)))
    member.child.kill('SIGCONT')
  }

  /** The lease holder. After a kill there may be none yet. */
  async #owner(): Promise<Member> {
    const end = performance.now() + READY_MS_MAX
    for (;;) {
      const pid = sqliteOwner(this.#files.path)
      const member = this.#members.find(({ child }) => child.pid === pid)
      if (member !== undefined) return member
      if (performance.now() > end) throw new Error('nobody took over')
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  #shuffled<T>(items: readonly T[]): T[] {
    const keyed = items.map((item) => ({ item, key: this.#random.next() }))
    return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item)
  }

  #lives(slot: number): boolean {
    const child = this.#members[slot]?.child
    return child !== undefined && child.exitCode === null && child.signalCode === null
  }

  #spawn(slot: number, drain: boolean): Member {
    this.#runs += 1
    const config: ChildConfig = {
      ...this.#files,
      run: this.#runs,
      slot,
      seed: this.#options.seed + this.#runs * 7919,
      // With a short grace period, delays by kills cause misfires, whose skipped ranges must be in the log.
      grace: this.#random.chance(0.3) ? '300ms' : '60s',
      drain,
    }
    const child = spawn(process.execPath, [CHILD, JSON.stringify(config)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ready = new Promise<void>((resolve, reject) => {
      child.stdout!.once('data', () => resolve())
      child.once('exit', (code, signal) =>
        reject(new Error(`run ${config.run} ended early: ${code ?? signal}`)),
      )
    })
    ready.catch(() => {})
    return { run: config.run, child, ready }
  }
}

/** The unanswered calls of a run. */
function unansweredOf(run: number, ledgerPath: string): number {
  let open = 0
  for (const entry of readLedger(ledgerPath)) if (entry.run === run) open += openedBy(entry.type)
  return open
}

async function within<T>(ms: number, what: string, promise: Promise<T>): Promise<T> {
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
