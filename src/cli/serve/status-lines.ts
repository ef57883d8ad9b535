import { skippedText } from '../../alarm/index.ts'
import { errorText } from '../../error.ts'
import type { EventView, Wakeful } from '../../index.ts'
import { eventWire, type PoolReadings } from '../../library/index.ts'
import { withoutPasswords } from '../../redaction/index.ts'
import type { Log } from '../../server/index.ts'
import { fileOf, isInMemory, PRINT_TARGET, STORE_DEFAULT } from '../arguments/index.ts'
import type { CliContext, Output } from '../terminal/index.ts'
import { localInstants, oneLine } from '../text/index.ts'

const OWNERSHIP_CHECK_MS = 250
const SERVED = ['wakeful', PRINT_TARGET.pool]
/** The events that `serve` prints. */
const PROBLEMS = /^alarm\.(?:attempt_failed|failed|timed_out|skipped|dead_lettered)$/

/** What the banner needs. */
export interface BannerInput {
  readonly wakeful: Wakeful
  readonly out: Output
  readonly log: Log
  readonly shell: CliContext
  readonly url: string
  /** Whether the store is named by WAKEFUL_DB. */
  readonly isFromEnvironment: boolean
  /** The URL of the HTTP API; null if there is none. */
  readonly http: string | null
}

/** Prints the store and the URL, and the first step for newcomers. */
export async function banner(input: BannerInput): Promise<void> {
  const { wakeful, out, log, shell, url: whole, isFromEnvironment, http } = input
  // Passwords must not be printed or logged.
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
    out.line('In memory: no other process can set alarms here, and they are lost when this process ends.')
    return
  }
  if ((await wakeful.stats()).total > 0) return
  out.line(`Set your first alarm from another terminal${isNamed ? ', with the store in WAKEFUL_DB' : ''}:`)
  out.line(`  ${shell.invocation} set 'in 10 seconds' --message hello${db}`)
}

/** Logs which share of the alarms this process fires, at the start and at each change. */
export function logShardOwnership(wakeful: Wakeful, log: Log): () => void {
  const { operator } = wakeful
  let logged: number | null = null
  let seen = -1
  let isBusy = false
  let isOver = false
  const check = async () => {
    const here = operator.shardsHere()
    // Shards change their owner in several steps. Only the last step is logged.
    const isMoving = logged !== null && here !== seen
    seen = here
    if (isMoving || isBusy || here === logged) return
    isBusy = true
    try {
      const { pools } = await operator.readings()
      if (isOver) return
      const line = ownerLine(
        here,
        pools.filter(({ pool }) => SERVED.includes(pool)),
        logged !== null,
      )
      log.event(here > 0 ? 'owner' : 'standby', line)
      logged = here
    } catch {
      // The store does not answer, which is logged elsewhere. The next check asks again.
    } finally {
      isBusy = false
    }
  }
  void check()
  const timer = setInterval(() => void check(), OWNERSHIP_CHECK_MS)
  return () => {
    isOver = true
    clearInterval(timer)
  }
}

/** On SQLite a pool is one shard; on PostgreSQL processes share 64. */
function ownerLine(here: number, pools: readonly PoolReadings[], isChange: boolean): string {
  const total = pools.reduce((sum, pool) => sum + pool.here + pool.elsewhere + pool.nobody, 0)
  if (total > pools.length && here < total)
    return `${here} of ${total} shards run here, the others in other processes`
  if (here === 0) return 'standing by: another process fires the alarms; this one takes over when it ends'
  return isChange ? 'took over: alarms fire here now' : 'alarms fire here'
}

/** Logs the problems of alarms from now on. If the log cannot be followed, alarms still fire. */
export async function logProblems(
  wakeful: Wakeful,
  zone: string,
  signal: AbortSignal,
  log: Log,
): Promise<void> {
  try {
    for await (const event of wakeful.events({ follow: true, after: 'newest', signal })) {
      if (PROBLEMS.test(event.type))
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
  const reason = data.error ?? data.reason
  return `${what}: ${alarmId}${typeof reason === 'string' ? `: ${oneLine(reason)}` : ''}`
}

/** An argument, quoted for a shell if needed. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
