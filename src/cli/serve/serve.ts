import { setTimeout } from 'node:timers/promises'
import { DEFAULT_POOL } from '../../alarm/index.ts'
import { type Config, type Configured, openSettings } from '../../config/index.ts'
import { type OpenOptions, open, type TargetSpec, type Wakeful } from '../../index.ts'
import { withoutUndefined } from '../../library/index.ts'
import {
  isPortInUse,
  Log,
  Metrics,
  PauseControl,
  type Server,
  type ServerOptions,
  startServer,
} from '../../server/index.ts'
import { parseDuration } from '../../time/index.ts'
import { type Globals, normalizeUrl, PRINT_TARGET, scopeOf, zoneOf } from '../arguments/index.ts'
import { configuredSecret } from '../session/index.ts'
import { type CliContext, type Output, Stop } from '../terminal/index.ts'
import { localTime } from '../text/index.ts'
import { fireJson, fireLine } from './fire-line.ts'
import { logProblems } from './problem-lines.ts'
import { banner, logShardOwnership, type ServeContext } from './status-lines.ts'
import { openWhenReady } from './wait-for-store.ts'

/** At shutdown, open requests get the rest of the drain time that deliveries did not use, within these limits. */
export const HTTP_DRAIN_MS_MAX = 5_000
const HTTP_DRAIN_MS_MIN = 250

const LATE =
  'stopped before all leases were released, because the store did not answer in time. Deliveries in flight are retried by another process, or at the next start'

/** Fires alarms and serves the HTTP API until a signal. */
export async function serve(
  cli: CliContext,
  globals: Globals,
  configured: Configured,
  out: Output,
): Promise<void> {
  const { terminal } = cli
  const { config, notes } = configured
  const zone = zoneOf(globals)
  const log = new Log({
    level: config.logLevel,
    format: globals.json === true ? 'json' : config.logFormat,
    write: (line) => terminal.stdout.write(line),
    now: () => terminal.now(),
    pid: terminal.pid,
    timeText: (at) => localTime(at, zone),
  })
  for (const note of notes) log.event('note', `note: ${note}`, { message: note }, 'warn')
  const stop = new Stop(terminal)
  try {
    await run({ cli, configured, url: normalizeUrl(config.db), out, log, zone, stop }, globals)
  } finally {
    stop.unlisten()
  }
}

async function run(context: ServeContext, globals: Globals): Promise<void> {
  const { cli, configured, out, log, zone, stop } = context
  const { tenant = {}, owner = {} } = configured.config.quotas
  const quotas = { tenant, owner }
  const metrics = new Metrics({ version: cli.version, node: process.version, process: true })
  const pauses = new PauseControl(quotas)
  const options = openOptions(context, globals)
  const wakeful = await openWhenReady(
    () => open(context.url, { ...options, observer: metrics.observer, pauses, deliveryLimits: pauses }),
    { terminal: cli.terminal, log, stop, waitMs: waitMsOf(configured.config.wait) },
  )
  if (wakeful === null) {
    log.event('stopped', 'stopped')
    return
  }
  const { documents, clock, readings, checkSecret } = wakeful.operator
  let detach = () => {}
  try {
    // A server without the secret would fire nothing: better seen at the start than in the log of the first webhook.
    const refusal = await checkSecret()
    if (refusal !== null) throw refusal
    metrics.attach({ readings, clock, hostNow: () => cli.terminal.now() })
    wakeful.handle(PRINT_TARGET.handler, (fire) => {
      out.line(log.isJson ? fireJson(fire) : fireLine(fire, zone))
    })
    // Also without HTTP: pauses that an operator sets elsewhere apply here.
    detach = await pauses.attach(documents, clock, (thrown) => log.error(thrown))
    await runUntilStopped(context, wakeful, await listen(context, { wakeful, metrics, pauses, quotas }))
  } finally {
    detach()
    await wakeful.close()
  }
  log.event('stopped', 'stopped')
}

/** Fires alarms until a signal, then shuts down in order. */
async function runUntilStopped(
  context: ServeContext,
  wakeful: Wakeful,
  server: Server | null,
): Promise<void> {
  const { cli, configured, log, zone, stop } = context
  const { drain } = configured.config
  const drainMs = parseDuration(drain)
  const stopping = new AbortController()
  let drainUntil = Number.POSITIVE_INFINITY
  try {
    await banner(context, wakeful, server?.url ?? null)
    await wakeful.start()
    // Not awaited at the end, because a store that does not answer would delay it.
    void logShardOwnership(wakeful, log, stopping.signal)
    const reporting = logProblems(wakeful, {
      log,
      zone,
      now: () => cli.terminal.now(),
      signal: stopping.signal,
    })
    const signal = await stop.asked
    if (server !== null) await leave(server, signal, context)
    stopping.abort()
    stop.endWithin(drainMs + HTTP_DRAIN_MS_MAX, () => log.event('stopped', LATE, { message: LATE }, 'error'))
    drainUntil = cli.terminal.monotonic() + drainMs
    await reporting
    log.event('stopping', `stopping (${drain} at most; Ctrl-C again ends at once)`)
    // The server answers calls until it is closed, such as reports of deliveries in flight.
    await wakeful.operator.drain()
  } finally {
    stopping.abort()
    const leftMs = drainUntil - cli.terminal.monotonic()
    await server?.close(Math.min(HTTP_DRAIN_MS_MAX, Math.max(HTTP_DRAIN_MS_MIN, leftMs)))
  }
}

/**
 * Makes `/readyz` fail. After SIGTERM, everything else goes on for the lame-duck time, in which proxies learn to send requests
 * elsewhere. Ctrl-C comes from a person, who does not want to wait.
 */
async function leave(server: Server, signal: string, { configured, log }: ServeContext): Promise<void> {
  server.stopping()
  const { lameDuck } = configured.config
  const lameDuckMs = parseDuration(lameDuck)
  if (signal !== 'SIGTERM' || lameDuckMs === 0) return
  log.event('leaving', `leaving: /readyz fails, and requests are answered for ${lameDuck} before the drain`)
  await setTimeout(lameDuckMs)
  server.closeIdle()
}

function waitMsOf(wait: string): number {
  return wait === 'forever' ? Number.POSITIVE_INFINITY : parseDuration(wait)
}

function openOptions({ configured, log }: ServeContext, globals: Globals): OpenOptions {
  const { config } = configured
  const secret = configuredSecret(config)
  return {
    ...openSettings(config),
    ...scopeOf(globals),
    pool: PRINT_TARGET.pool,
    // Callers of the API name handlers of applications that use the same store, not those of this process.
    namesPool: DEFAULT_POOL,
    createdVia: 'cli',
    onError: (thrown) => log.error(thrown),
    allowPrivateTargets: config.allowPrivateTargets,
    webhooks: { timeout: config.webhookTimeout, perEndpoint: config.webhooksPerEndpoint },
    ...withoutUndefined({ secret, trustClock: globals.trustClock, defaultTarget: defaultTarget(config) }),
  }
}

/** A URL is that of a webhook. Over the network, no process has handlers that everybody's alarms could go to. */
function defaultTarget({ defaultTarget: target }: Config): TargetSpec | undefined {
  if (target === null) return undefined
  return target === 'inbox' ? target : { webhook: target }
}

/** Starts the HTTP API. If the default port is in use, this process runs without it, because it may be a standby. */
async function listen(
  { cli, configured, log }: ServeContext,
  parts: Pick<ServerOptions, 'wakeful' | 'metrics' | 'pauses' | 'quotas'>,
): Promise<Server | null> {
  const { config, sources } = configured
  try {
    return await startServer({
      ...parts,
      log,
      version: cli.version,
      host: config.host,
      port: config.port,
      bodyBytesMax: config.maxBodyBytes,
      allowedOrigins: config.allowedOrigins,
      allowedHosts: config.allowedHosts,
      live: {
        connectionsMax: config.wsConnectionsMax,
        messageBytesMax: config.wsMessageBytesMax,
        messagesPerSecond: config.wsMessagesPerSecond,
        bufferBytesMax: config.wsBufferBytesMax,
        heartbeatMs: parseDuration(config.wsHeartbeat),
      },
      metricsFor: config.metrics,
      readyTimeoutMs: parseDuration(config.readyTimeout),
      readyLagMs: parseDuration(config.readyLag),
    })
  } catch (thrown) {
    if (sources.port !== 'default' || !isPortInUse(thrown)) throw thrown
    const { message } = thrown as Error
    log.event('no_http', `no HTTP API here: ${message}`, { message }, 'warn')
    return null
  }
}
