import type pg from 'pg'
import { open, type Wakeful, WakefulError } from '../../../src/index.ts'
import { Random } from '../../random.ts'
import { leaveWithParent } from '../leave-with-parent.ts'
import { Ledger } from '../ledger.ts'
import { handleAll, Workload, type WorkloadEnvironment } from '../workload.ts'

/** The settings of one process of a campaign. */
export interface ChildConfig {
  readonly url: string
  readonly ledgerPath: string
  readonly run: number
  /** The slot of this process in the campaign. Keys belong to a slot. */
  readonly slot: number
  readonly seed: number
  readonly grace: string
  /** The offset of true time from the monotonic clock, which all processes of a machine share. */
  readonly offsetMs: number
}

/** A pause of the event loop that may cost a process its lease. */
const STALL_MS = 1_000

const config = JSON.parse(process.argv[2]!) as ChildConfig
const { run } = config
const ledger = new Ledger(config.ledgerPath)
const now = () => Math.floor(Number(process.hrtime.bigint() / 1_000n) / 1_000 + config.offsetMs)
const environment: WorkloadEnvironment = {
  now,
  effect: (tx, occurrenceId) =>
    (tx as pg.PoolClient).query('INSERT INTO chaos_effects (occurrence, run) VALUES ($1, $2)', [
      occurrenceId,
      run,
    ]),
  isOutage: (thrown) => thrown instanceof WakefulError && thrown.code === 'store_unavailable',
}
const recordError = (what: string) => (thrown: unknown) => {
  const text = `${what}: ${thrown instanceof Error ? thrown.stack : String(thrown)}`
  ledger.write({ type: environment.isOutage(thrown) ? 'unavailable' : 'error', run, text })
}
process.on('uncaughtException', (thrown) => {
  ledger.write({ type: 'error', run, text: `uncaught: ${thrown.stack}` })
  process.exit(1)
})

leaveWithParent()

/** Acts as a supervisor: restarts the process while the server is down. */
async function started(): Promise<Wakeful> {
  for (;;) {
    const url = `${config.url}?application_name=run-${process.pid}`
    let wakeful: Wakeful | null = null
    try {
      wakeful = await open(url, {
        grace: config.grace,
        // Few slots, so that some claimed timers have not begun when the kill comes.
        concurrency: 12,
        onError: recordError('engine'),
      })
      handleAll(wakeful, ledger, run, environment)
      await wakeful.start()
      return wakeful
    } catch (thrown) {
      recordError('open')(thrown)
      if (!environment.isOutage(thrown)) throw thrown
      await wakeful?.close().catch(() => {})
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
}

const wakeful = await started()

let lastAt = now()
const watching = setInterval(() => {
  const gapMs = now() - lastAt
  const stall = { what: 'stall', at: lastAt, lastsMs: gapMs + 5_000, logEnd: 0, inFlight: 0 } as const
  if (gapMs > STALL_MS) ledger.write({ type: 'broken', run, ...stall })
  lastAt = now()
}, 100)

const workload = new Workload(wakeful, ledger, new Random(config.seed), run, config.slot, environment)
const working = workload.go().catch(recordError('call'))
// On SIGTERM, every caller must get its answer, and nothing may prevent the close.
process.on('SIGUSR2', () => {
  workload.stop()
  void working.then(() => console.log('quiet'))
})
process.on('SIGTERM', () => void end())
// Not earlier: an unhandled signal would end the process without a trace in the ledger.
console.log('ready')

async function end(): Promise<void> {
  await working
  await wakeful.close()
  ledger.write({ type: 'closed', run })
  clearInterval(watching)
}
