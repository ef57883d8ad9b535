import { open } from '../../src/index.ts'
import { Random } from '../random.ts'
import { leaveWithParent } from './leave-with-parent.ts'
import { Ledger } from './ledger.ts'
import { handleAll, Workload } from './workload.ts'

/** The settings of one process of a campaign. */
export interface ChildConfig {
  readonly path: string
  readonly ledgerPath: string
  readonly run: number
  /** The slot of this process in the campaign. Keys belong to a slot. */
  readonly slot: number
  readonly seed: number
  readonly grace: string
  /** Sets nothing, and closes when nothing is pending any more. */
  readonly drain: boolean
}

const config = JSON.parse(process.argv[2]!) as ChildConfig
const { run } = config
const ledger = new Ledger(config.ledgerPath)
const recordError = (what: string) => (thrown: unknown) =>
  ledger.write({
    type: 'error',
    run,
    text: `${what}: ${thrown instanceof Error ? thrown.stack : String(thrown)}`,
  })
process.on('uncaughtException', (thrown) => {
  recordError('uncaught')(thrown)
  process.exit(1)
})

leaveWithParent()

const wakeful = await open(config.path, {
  grace: config.grace,
  // Few slots, so that some claimed timers have not begun when the kill comes.
  concurrency: config.drain ? 100 : 12,
  onError: recordError('engine'),
})
handleAll(wakeful, ledger, run)
await wakeful.start()
console.log('ready')

if (config.drain) {
  while ((await wakeful.ownership()).some(({ pending }) => pending > 0))
    await new Promise((resolve) => setTimeout(resolve, 50))
  await wakeful.close()
  ledger.write({ type: 'closed', run })
} else {
  const workload = new Workload(wakeful, ledger, new Random(config.seed), run, config.slot)
  workload.go().catch(recordError('call'))
}
