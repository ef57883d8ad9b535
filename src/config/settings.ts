import type { Command } from 'commander'
import { DEFAULT_TIMES, type PhraseSettings } from '../time/index.ts'
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
  timesOfDay,
  wholeNumber,
  zone,
} from './kinds.ts'

const DEFAULTS_TEXT = Object.entries(DEFAULT_TIMES)
  .map(([word, time]) => `${word}=${time}`)
  .join(', ')

/** The definition of one setting. Its names follow from its key: `logLevel` is `log_level`, `--log-level`, `WAKEFUL_LOG_LEVEL`. */
export interface Setting<T> {
  readonly kind: Kind<T>
  readonly default: T
  /** What it does, as a line of help. */
  readonly help: string
  /** Its value is never printed. */
  readonly secret?: true
  /** It can be set in a file only. */
  readonly fileOnly?: true
  /** It has no flag here: a secret would show in the list of processes, and other flags belong to every command. */
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

/** Every setting of `wakeful serve`, in the order of the help. */
const SETTINGS = {
  host: setting(text, '127.0.0.1', 'the address to listen on; requires keys unless it is a loopback address'),
  port: setting(wholeNumber(0, 65_535), 7420, 'the port to listen on; 0 picks a free one'),
  db: setting(text, 'sqlite:./wakeful.db', 'the store: sqlite:FILE, a file, or postgres://…', {
    noFlag: true,
  }),
  concurrency: setting(wholeNumber(1, 10_000), 100, 'concurrent deliveries'),
  batch: setting(wholeNumber(1, 10_000), 1_000, 'alarms claimed at a time'),
  grace: setting(duration, '60s', 'how late an occurrence may be before it is a misfire'),
  drain: setting(duration, '30s', 'how long a shutdown waits for deliveries in flight'),
  lameDuck: setting(
    duration,
    '0s',
    'after SIGTERM: how long /readyz fails while requests are answered and alarms fire, before the drain',
  ),
  wait: setting(durationOrForever, '0s', 'how long to wait at the start for a store that does not answer'),
  retention: setting(durationOrForever, '30d', 'how long ended alarms, and old events, are kept'),
  maxFailures: setting(wholeNumber(1, 1_000), 5, 'default number of attempts'),
  defaultTarget: setting(
    textOrNone,
    null,
    'the target of alarms that name none, unless their owner or tenant has one: a URL, such as https://app.example.com/wake/{{user_id}}, or inbox',
  ),
  timezone: setting(zone, 'UTC', 'default time zone of calls', { noFlag: true }),
  phraseClock: setting(
    oneOf('refuse', '12h', '24h'),
    'refuse',
    'how a phrase such as "tomorrow at 9" is read: refused, or on that clock',
  ),
  phraseTimes: setting(
    timesOfDay,
    {},
    `the times that words in phrases mean; the others keep their default (${DEFAULTS_TEXT})`,
  ),
  allowPrivateTargets: setting(onOrOff, false, 'let webhooks reach private and loopback addresses'),
  secret: setting(textOrNone, null, 'the master secret, at least 32 characters', {
    secret: true,
    noFlag: true,
  }),
  secretFile: setting(
    textOrNone,
    null,
    'the file with the master secret; by default it is created beside the store',
  ),
  logLevel: setting(oneOf('debug', 'info', 'warn', 'error', 'silent'), 'info', 'log level'),
  logFormat: setting(oneOf('text', 'json'), 'text', 'log format; --json sets it to json'),
  webhookTimeout: setting(duration, '30s', 'timeout of one webhook attempt'),
  webhooksPerEndpoint: setting(wholeNumber(1, 10_000), 10, 'concurrent deliveries per endpoint'),
  maxBodyBytes: setting(wholeNumber(1_024, 64 * MIB), MIB, 'maximum size of a request body'),
  quotas: setting(quotas, {}, 'default quotas of tenants and owners', { fileOnly: true }),
  allowedOrigins: setting(
    list,
    [],
    'origins of web pages that may call this server, such as https://app.example',
  ),
  allowedHosts: setting(list, [], 'host names accepted in addition to localhost while there are no keys'),
  metrics: setting(
    oneOf('key', 'open', 'off'),
    'key',
    'who may read /metrics: keys of tenant "*", everybody, or nobody',
  ),
  readyLag: setting(duration, '60s', 'how late due alarms may be before /readyz fails'),
  readyTimeout: setting(duration, '2s', 'how long /readyz waits for the store'),
  wsConnectionsMax: setting(
    wholeNumber(1, 100_000),
    1_000,
    'maximum number of WebSocket and SSE connections; if the server has keys, each tenant may use half of them',
  ),
  wsMessageBytesMax: setting(wholeNumber(1_024, 16 * MIB), MIB, 'maximum size of a WebSocket message'),
  wsMessagesPerSecond: setting(wholeNumber(1, 100_000), 50, 'maximum messages per second of a WebSocket'),
  wsBufferBytesMax: setting(wholeNumber(1_024, 64 * MIB), MIB, 'maximum bytes buffered for a slow reader'),
  wsHeartbeat: setting(duration, '30s', 'ping interval of connections'),
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

/** Adds the flag of every setting to a command, except those that every command has (`--db`, `--timezone`). */
export function addConfigFlags(command: Command): Command {
  command.option('--config <file>', 'settings from a JSON file (WAKEFUL_CONFIG)')
  command.option('--print-config', 'print the effective configuration without secrets, and exit')
  for (const [key, { kind, help, default: initial, noFlag, fileOnly }] of SETTING_LIST) {
    if (noFlag === true || fileOnly === true) continue
    const standard = initial === null || typeof initial === 'object' ? '' : `default ${word(initial)}, `
    const value = kind.words === 'on or off' ? ' [on|off]' : ' <value>'
    const choices = kind.isChoice === true ? `${kind.words}; ` : ''
    command.option(`${flagOf(key)}${value}`, `${help} (${choices}${standard}${variableOf(key)})`)
  }
  return command
}

/** The options of `open` that are settings. */
export function openSettings(config: Config) {
  const { concurrency, batch, grace, drain, timezone, maxFailures } = config
  const phrases = phraseSettings(config)
  const retention = config.retention === 'forever' ? null : config.retention
  return { concurrency, batch, grace, drain, timezone, phrases, retention, defaults: { maxFailures } }
}

/** How phrases are read, from the settings about them. */
export function phraseSettings({
  phraseClock,
  phraseTimes,
}: Pick<Config, 'phraseClock' | 'phraseTimes'>): PhraseSettings {
  return { ...(phraseClock !== 'refuse' && { clock: phraseClock }), times: phraseTimes }
}

function word(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  return String(value)
}
