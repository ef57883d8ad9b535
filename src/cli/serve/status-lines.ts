import { setTimeout } from 'node:timers/promises'
import type { Configured } from '../../config/index.ts'
import { storeFile } from '../../hosts/node/index.ts'
import type { Wakeful } from '../../index.ts'
import type { PoolReadings } from '../../library/index.ts'
import { withoutPasswords } from '../../redaction/index.ts'
import type { Log } from '../../server/index.ts'
import { isInMemory, PRINT_TARGET, STORE_DEFAULT, shellArgument } from '../arguments/index.ts'
import type { CliContext, Output, Stop } from '../terminal/index.ts'

const OWNERSHIP_CHECK_MS = 250
const SERVED = ['wakeful', PRINT_TARGET.pool]

/** What every part of `serve` needs. */
export interface ServeContext {
  readonly cli: CliContext
  readonly configured: Configured
  readonly url: string
  readonly out: Output
  readonly log: Log
  readonly zone: string
  readonly stop: Stop
}

/** Prints the store, the URL of the HTTP API if there is one, and the first step for newcomers. */
export async function banner(context: ServeContext, wakeful: Wakeful, http: string | null): Promise<void> {
  const { cli, configured, url: fullUrl, out, log } = context
  // Passwords must not be printed or logged.
  const url = withoutPasswords(fullUrl)
  if (log.isJson) {
    log.event('serving', '', { version: cli.version, store: url, pools: SERVED, url: http })
    return
  }
  // A URL with a password is not suggested as an argument.
  const isInEnvironment = configured.sources.db === 'environment' || url !== fullUrl
  const db = isInEnvironment || url === STORE_DEFAULT ? '' : ` --db ${shellArgument(storeFile(url) ?? url)}`
  out.line(`wakeful ${cli.version}: store ${url}, pools ${SERVED.join(' and ')}, pid ${cli.terminal.pid}`)
  if (http !== null) out.line(`HTTP API: ${http} (described at /openapi.json, docs at /llms.txt)`)
  if (isInMemory(url)) {
    out.line('In memory: no other process can set alarms here, and they are lost when this process ends.')
    return
  }
  if ((await wakeful.stats()).total > 0) return
  out.line(
    `Set your first alarm from another terminal${isInEnvironment ? ', with the store in WAKEFUL_DB' : ''}:`,
  )
  out.line(`  ${cli.invocation} set 'in 10 seconds' --message hello${db}`)
}

/** Logs which share of the alarms this process fires, at the start and at each change, until the signal. */
export async function logShardOwnership({ operator }: Wakeful, log: Log, signal: AbortSignal): Promise<void> {
  let logged: number | null = null
  let seen = -1
  while (!signal.aborted) {
    const here = operator.shardsHere()
    // Shards change their owner in several steps. Only the last step is logged.
    const isMoving = logged !== null && here !== seen
    seen = here
    if (!isMoving && here !== logged) {
      // If the store does not answer, which is logged elsewhere, the next check asks again.
      const readings = await operator.readings().catch(() => null)
      if (signal.aborted) return
      if (readings !== null) {
        const pools = readings.pools.filter(({ pool }) => SERVED.includes(pool))
        log.event(here > 0 ? 'owner' : 'standby', ownerLine(here, pools, logged !== null))
        logged = here
      }
    }
    await setTimeout(OWNERSHIP_CHECK_MS, null, { signal }).catch(() => {})
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
