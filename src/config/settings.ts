import {
  duration,
  durationOrForever,
  type Kind,
  list,
  oneOf,
  onOrOff,
  quotas,
  text,
  textOrNone,
  wholeNumber,
  zone,
} from './kinds.ts'

/** One setting: everything that is known of it. Its names follow from its key: `logLevel` is `log_level`, `--log-level`, `WAKEFUL_LOG_LEVEL`. */
export interface Setting<T> {
  readonly kind: Kind<T>
  readonly default: T
  /** What it does, as a line of help. */
  readonly help: string
  /** Its value is never shown. */
  readonly secret?: true
  /** It can be given in a file only. */
  readonly fileOnly?: true
  /** It has no flag of its own: it must not stand in the list of processes, or every command has the flag already. */
  readonly noFlag?: true
}

const MIB = 1_048_576

function setting<T>(
  kind: Kind<T>,
  value: NoInfer<T>,
  help: string,
  more: Pick<Setting<T>, 'secret' | 'fileOnly' | 'noFlag'> = {},
): Setting<T> {
  return { kind, default: value, help, ...more }
}

/** Every setting of `wakeful serve`, in the order they are shown. */
const SETTINGS = {
  host: setting(text, '127.0.0.1', 'the address to listen on; any but a loopback one needs keys'),
  port: setting(wholeNumber(0, 65_535), 7420, 'the port to listen on; 0 takes any free one'),
  db: setting(text, 'sqlite:./wakeful.db', 'the store: sqlite:FILE, a file, or postgres://…', {
    noFlag: true,
  }),
  concurrency: setting(wholeNumber(1, 10_000), 100, 'deliveries at a time'),
  batch: setting(wholeNumber(1, 10_000), 1_000, 'alarms taken at a time'),
  grace: setting(duration, '60s', 'how late an occurrence may be before it is a misfire'),
  drain: setting(duration, '30s', 'how long a stop waits for what is in flight'),
  retention: setting(durationOrForever, '30d', 'how long ended alarms are kept'),
  maxFailures: setting(wholeNumber(1, 1_000), 5, 'tries of an alarm that names no number of its own'),
  timezone: setting(zone, 'UTC', 'the zone of calls that name none', { noFlag: true }),
  allowPrivateTargets: setting(onOrOff, false, 'let webhooks reach private and loopback addresses'),
  secret: setting(textOrNone, null, 'the master secret of the installation', { secret: true, noFlag: true }),
  secretFile: setting(
    textOrNone,
    null,
    'the file that holds the master secret; where none is named, one is made beside the store',
  ),
  logLevel: setting(oneOf('debug', 'info', 'warn', 'error', 'silent'), 'info', 'what is logged'),
  logFormat: setting(oneOf('text', 'json'), 'text', 'how it is logged; --json means json'),
  webhookTimeout: setting(duration, '30s', 'how long an attempt at a webhook may take'),
  webhooksPerEndpoint: setting(wholeNumber(1, 10_000), 10, 'deliveries at a time to one endpoint'),
  maxBodyBytes: setting(wholeNumber(1_024, 64 * MIB), MIB, 'the largest body of a request'),
  quotas: setting(quotas, {}, 'limits of tenants and owners that have none of their own', { fileOnly: true }),
  allowedOrigins: setting(list, [], 'web pages that may call this server, as origins: https://app.example'),
  allowedHosts: setting(list, [], 'names this server is reached by, where a proxy stands before it'),
  metrics: setting(
    oneOf('key', 'open', 'off'),
    'key',
    'who may read /metrics: holders of a key of tenant "*", anyone, nobody',
  ),
  readyLag: setting(duration, '60s', 'how far the clock may lag behind before /readyz says no'),
  readyTimeout: setting(duration, '2s', 'how long /readyz waits for the store'),
  wsConnectionsMax: setting(
    wholeNumber(1, 100_000),
    1_000,
    'WebSocket and SSE connections at a time; with keys, half of them for one tenant',
  ),
  wsMessageBytesMax: setting(wholeNumber(1_024, 16 * MIB), MIB, 'the largest message of a WebSocket'),
  wsMessagesPerSecond: setting(wholeNumber(1, 100_000), 50, 'messages per second of one WebSocket'),
  wsBufferBytesMax: setting(wholeNumber(1_024, 64 * MIB), MIB, 'what may wait for a slow reader'),
  wsHeartbeat: setting(duration, '30s', 'how often a connection is asked whether it lives'),
} as const satisfies Readonly<Record<string, Setting<never> | Setting<unknown>>>

/** The name of a setting in the code. */
export type SettingKey = keyof typeof SETTINGS

/** The effective configuration. */
export type Config = {
  readonly [K in SettingKey]: (typeof SETTINGS)[K] extends Setting<infer T> ? T : never
}

/** Every setting with its key, in order. */
export const SETTING_LIST = Object.entries(SETTINGS) as readonly (readonly [SettingKey, Setting<unknown>])[]

/** A setting's name in a file: `log_level`. */
export function nameOf(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** A setting's flag: `--log-level`. */
export function flagOf(key: string): string {
  return `--${nameOf(key).replaceAll('_', '-')}`
}

/** A setting's variable: `WAKEFUL_LOG_LEVEL`. */
export function variableOf(key: string): string {
  return `WAKEFUL_${nameOf(key).toUpperCase()}`
}
