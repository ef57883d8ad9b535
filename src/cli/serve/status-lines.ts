import { skippedText } from '../../alarm/index.ts'
import { errorText } from '../../error.ts'
import type { EventView, Wakeful } from '../../index.ts'
import { eventWire, type PoolReadings } from '../../library/index.ts'
import { withoutPasswords } from '../../redaction/index.ts'
import type { Log } from '../../server/index.ts'
import { fileOf, isInMemory, PRINT_TARGET, STORE_DEFAULT } from '../arguments/index.ts'
import type { Output, Shell } from '../terminal/index.ts'
import { localInstants, oneLine } from '../text/index.ts'

const OWNER_LOOK_MS = 250
const SERVED = ['wakeful', PRINT_TARGET.pool]
/** The events that someone who watches `serve` should see. */
const TROUBLE = /^alarm\.(?:attempt_failed|failed|timed_out|skipped|dead_lettered)$/

/** What is said when a server begins. */
export interface Beginning {
  readonly wakeful: Wakeful
  readonly out: Output
  readonly log: Log
  readonly shell: Shell
  readonly url: string
  /** Whether the store is that of WAKEFUL_DB. */
  readonly isFromEnvironment: boolean
  /** Where the HTTP API listens; null where it does not. */
  readonly http: string | null
}

/** Says what serves where, and to a newcomer what to do next. */
export async function banner(beginning: Beginning): Promise<void> {
  const { wakeful, out, log, shell, url: whole, isFromEnvironment, http } = beginning
  // A password is nothing for a terminal, or a log.
  const url = withoutPasswords(whole)
  const pools = SERVED
  if (log.isJson) {
    log.event('serving', '', { version: shell.version, store: url, pools, url: http })
    return
  }
  const isNamed = isFromEnvironment || url !== whole
  const db = isNamed || url === STORE_DEFAULT ? '' : ` --db ${quoted(fileOf(url) ?? url)}`
  out.line(`wakeful ${shell.version}: store ${url}, pools ${pools.join(' and ')}, pid ${shell.terminal.pid}`)
  if (http !== null) out.line(`HTTP API: ${http} (described at /openapi.json, docs at /llms.txt)`)
  if (isInMemory(url)) {
    out.line('In memory: no other process can set alarms here, and they end with this one.')
    return
  }
  if ((await wakeful.stats()).total > 0) return
  out.line(`Set your first alarm from another terminal${isNamed ? ', with the store in WAKEFUL_DB' : ''}:`)
  out.line(`  ${shell.invocation} set 'in 10 seconds' --message hello${db}`)
}

/** Says how much of the clock runs here, now and when it changes hands. */
export function watchOwnership(wakeful: Wakeful, log: Log): () => void {
  const { operator } = wakeful
  let told: number | null = null
  let seen = -1
  let isBusy = false
  let isOver = false
  const look = async () => {
    const here = operator.shardsHere()
    // Shards change hands in several steps: they are told of when they have come to rest.
    const isMoving = told !== null && here !== seen
    seen = here
    if (isMoving || isBusy || here === told) return
    isBusy = true
    try {
      const { pools } = await operator.readings()
      if (isOver) return
      const line = ownerLine(
        here,
        pools.filter(({ pool }) => SERVED.includes(pool)),
        told !== null,
      )
      log.event(here > 0 ? 'owner' : 'standby', line)
      told = here
    } catch {
      // The store does not answer, which others tell of: it is asked again at the next look.
    } finally {
      isBusy = false
    }
  }
  void look()
  const timer = setInterval(() => void look(), OWNER_LOOK_MS)
  return () => {
    isOver = true
    clearInterval(timer)
  }
}

/** On SQLite a pool's clock is one shard; on PostgreSQL processes share them. */
function ownerLine(here: number, pools: readonly PoolReadings[], isChange: boolean): string {
  const total = pools.reduce((sum, pool) => sum + pool.here + pool.elsewhere + pool.nobody, 0)
  if (total > pools.length && here < total)
    return `${here} of ${total} shards run here, the others in other processes`
  if (here === 0) return 'standing by: another process runs the clock; this one takes over when it ends'
  return isChange ? 'took over: the clock runs here now' : 'the clock runs here'
}

/** Tells of what went wrong from now on; where the log cannot be followed, the alarms still fire. */
export async function reportTrouble(
  wakeful: Wakeful,
  zone: string,
  signal: AbortSignal,
  log: Log,
): Promise<void> {
  try {
    for await (const event of wakeful.events({ follow: true, after: 'newest', signal })) {
      if (TROUBLE.test(event.type))
        log.event(event.type, warningText(event, zone), { event: JSON.parse(eventWire(event)) }, 'warn')
    }
  } catch (thrown) {
    log.event('error', `cannot follow the log: ${errorText(thrown)}`, { message: errorText(thrown) }, 'warn')
  }
}

function warningText({ type, alarmId, data }: EventView, zone: string): string {
  if (type === 'alarm.skipped')
    return `skipped: ${alarmId}: ${localInstants(oneLine(skippedText(data)), zone)}`
  const what = type.replace('alarm.', '').replaceAll('_', ' ')
  const said = data.error ?? data.reason
  return `${what}: ${alarmId}${typeof said === 'string' ? `: ${oneLine(said)}` : ''}`
}

/** An argument as a shell takes it. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
