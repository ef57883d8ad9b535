import { readFileSync } from 'node:fs'
import { type Config, type Configured, openSettings } from '../../config/index.ts'
import { WakefulError } from '../../error.ts'
import type { OpenOptions, Wakeful } from '../../index.ts'
import { isPortInUse, Log, Metrics, PauseControl, type Server, startServer } from '../../server/index.ts'
import { DEFAULT_POOL } from '../../targets/index.ts'
import { parseDuration } from '../../time/index.ts'
import { type Globals, normalizeUrl, PRINT_TARGET, scopeOf, zoneOf } from '../arguments/index.ts'
import { type CliContext, type Output, Stop } from '../terminal/index.ts'
import { localTime } from '../text/index.ts'
import { fireLine, wakeText } from './fire-line.ts'
import { banner, logProblems, logShardOwnership } from './status-lines.ts'

/** At shutdown, open requests get the rest of the drain time that deliveries did not use, within these limits. */
const HTTP_DRAIN_MS_MAX = 5_000
const HTTP_DRAIN_MS_MIN = 250

const LATE =
  'stopped before all leases were released, because the store did not answer in time. Deliveries in flight are retried by another process, or at the next start'

/** The context of `serve`. */
interface Serving {
  readonly shell: CliContext
  readonly config: Config
  readonly out: Output
  readonly log: Log
  readonly zone: string
  readonly stop: Stop
  readonly isFromEnvironment: boolean
}

/** Fires alarms and serves the HTTP API until a signal. */
export async function serve(
  shell: CliContext,
  globals: Globals,
  configured: Configured,
  out: Output,
): Promise<void> {
  const { terminal } = shell
  const { config, sources, notes } = configured
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
    const isFromEnvironment = sources.db === 'environment'
    const serving = { shell, config, out, log, zone, stop, isFromEnvironment }
    await run(serving, globals, sources.port !== 'default')
  } finally {
    stop.forget()
  }
}

async function run(serving: Serving, globals: Globals, isPortChosen: boolean): Promise<void> {
  const { shell, config, out, log, zone } = serving
  const metrics = new Metrics({ version: shell.version, node: process.version, process: true })
  const pauseControl = new PauseControl(quotasOf(config))
  const url = normalizeUrl(config.db)
  const wakeful = await shell.open(url, {
    ...openOptions(serving, globals),
    observer: metrics.observer,
    pauses: pauseControl,
    deliveryLimits: pauseControl,
  })
  const { documents, clock, readings } = wakeful.operator
  let detach = () => {}
  try {
    metrics.attach({ readings, clock, hostNow: () => shell.terminal.now() })
    wakeful.handle(PRINT_TARGET.handler, (fire) => {
      out.line(log.isJson ? wakeText(fire) : fireLine(fire, zone))
    })
    // Also without HTTP: pauses that an operator sets elsewhere apply here.
    detach = await pauseControl.attach(documents, clock, (thrown) => log.error(thrown))
    const server = await listen(serving, wakeful, { metrics, holds: pauseControl }, isPortChosen)
    await runUntilStopped(serving, wakeful, server, url)
  } finally {
    detach()
    await wakeful.close()
  }
  log.event('stopped', 'stopped')
}

/** Fires alarms until a signal, then shuts down in order. */
async function runUntilStopped(
  serving: Serving,
  wakeful: Wakeful,
  server: Server | null,
  url: string,
): Promise<void> {
  const { shell, config, out, log, zone, stop, isFromEnvironment } = serving
  let drainUntil = Number.POSITIVE_INFINITY
  try {
    await banner({ wakeful, out, log, shell, url, isFromEnvironment, http: server?.url ?? null })
    await wakeful.start()
    const unwatch = logShardOwnership(wakeful, log)
    const reporting = logProblems(wakeful, zone, stop.signal, log)
    await stop.asked
    server?.stopping()
    stop.endWithin(parseDuration(config.drain) + HTTP_DRAIN_MS_MAX, () =>
      log.event('stopped', LATE, { message: LATE }, 'error'),
    )
    drainUntil = shell.terminal.monotonic() + parseDuration(config.drain)
    unwatch()
    await reporting
    log.event('stopping', `stopping (${config.drain} at most; Ctrl-C again ends at once)`)
    // Meanwhile the server rejects new calls, and accepts reports of deliveries in flight.
    await wakeful.operator.drain()
  } finally {
    const leftMs = drainUntil - shell.terminal.monotonic()
    await server?.close(Math.min(HTTP_DRAIN_MS_MAX, Math.max(HTTP_DRAIN_MS_MIN, leftMs)))
  }
}

function openOptions({ config, log }: Serving, globals: Globals): OpenOptions {
  const secret = config.secret ?? (config.secretFile === null ? null : secretIn(config.secretFile))
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
    ...(secret !== null && { secret }),
    ...(globals.trustClock === true && { trustClock: true }),
  }
}

function quotasOf({ quotas }: Config) {
  return { tenant: quotas.tenant ?? {}, owner: quotas.owner ?? {} }
}

function liveOf(config: Config) {
  return {
    connectionsMax: config.wsConnectionsMax,
    messageBytesMax: config.wsMessageBytesMax,
    messagesPerSecond: config.wsMessagesPerSecond,
    bufferBytesMax: config.wsBufferBytesMax,
    heartbeatMs: parseDuration(config.wsHeartbeat),
  }
}

function secretIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (cause) {
    throw new WakefulError('secret.file', { file }, { cause })
  }
}

/** Starts the HTTP API. If the default port is in use, this process runs without it, because it may be a standby. */
async function listen(
  { shell, config, log }: Serving,
  wakeful: Wakeful,
  parts: { metrics: Metrics; holds: PauseControl },
  isPortChosen: boolean,
): Promise<Server | null> {
  try {
    return await startServer({
      ...parts,
      wakeful,
      log,
      version: shell.version,
      host: config.host,
      port: config.port,
      bodyBytesMax: config.maxBodyBytes,
      allowedOrigins: config.allowedOrigins,
      allowedHosts: config.allowedHosts,
      quotas: quotasOf(config),
      live: liveOf(config),
      metricsFor: config.metrics,
      readyTimeoutMs: parseDuration(config.readyTimeout),
      readyLagMs: parseDuration(config.readyLag),
    })
  } catch (thrown) {
    if (isPortChosen || !isPortInUse(thrown)) throw thrown
    log.event(
      'no_http',
      `no HTTP API here: ${(thrown as Error).message}`,
      { message: (thrown as Error).message },
      'warn',
    )
    return null
  }
}
