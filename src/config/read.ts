import { readFileSync } from 'node:fs'
import { display, errorText, WakefulError } from '../error.ts'
import { withoutPasswords } from '../redaction/index.ts'
import { closest } from '../time/index.ts'
import { suggestion } from './kinds.ts'
import {
  type Config,
  flagOf,
  nameOf,
  SETTING_LIST,
  type Setting,
  type SettingKey,
  variableOf,
} from './settings.ts'

/** Where a value comes from. */
export type Source = 'flag' | 'environment' | 'file' | 'default'

/** The effective configuration, and where each value comes from. */
export interface Configured {
  readonly config: Config
  readonly sources: Readonly<Record<SettingKey, Source>>
  /** The file it was read from, if any. */
  readonly file: string | null
  /** Warnings, such as a variable that is not read. */
  readonly notes: readonly string[]
}

/** The sources of a configuration. */
export interface ConfigInput {
  /** The command's options under commander's names, including those of every command. */
  readonly flags: Readonly<Record<string, unknown>>
  readonly env: Readonly<Record<string, string | undefined>>
  /** Reads the file; from the disk by default. */
  readonly readFile?: (path: string) => string
}

type FileValues = Readonly<Record<string, unknown>>

/** Variables with the same prefix that are no settings. */
const OTHER_VARIABLES = ['WAKEFUL_CONFIG', 'WAKEFUL_URL', 'WAKEFUL_KEY', 'WAKEFUL_TENANT', 'WAKEFUL_OWNER']

/** Reads flags, environment and file, in this order of precedence. Unknown settings and invalid values are errors that name them. */
export function readConfig(input: ConfigInput): Configured {
  const { flags, env } = input
  const file = filled(flags.config) ?? filled(env.WAKEFUL_CONFIG)
  const read = input.readFile ?? ((path) => readFileSync(path, 'utf8'))
  const values = file === null ? {} : readSettings(file, read)
  const config: Record<string, unknown> = {}
  const sources: Record<string, Source> = {}
  for (const [key, setting] of SETTING_LIST) {
    const found = find(key, setting, input, { file, values })
    config[key] = found.value
    sources[key] = found.source
  }
  return {
    config: config as Config,
    sources: sources as Record<SettingKey, Source>,
    file,
    notes: unknownVariables(env),
  }
}

/** One setting from the environment alone, for commands that do not read the others. */
export function settingOf<K extends SettingKey>(key: K, env: ConfigInput['env']): Config[K] {
  const [, setting] = SETTING_LIST.find(([name]) => name === key)!
  return find(key, setting, { flags: {}, env }, { file: null, values: {} }).value as Config[K]
}

/** The first place that has a value for a setting. */
function find(
  key: string,
  setting: Setting<unknown>,
  { flags, env }: ConfigInput,
  { file, values }: { file: string | null; values: FileValues },
) {
  const flag = flags[key] === true ? 'on' : flags[key]
  const variable = filled(env[variableOf(key)]) ?? undefined
  const all = [
    { source: 'flag', input: flag, where: flagOf(key), isText: true },
    { source: 'environment', input: variable, where: variableOf(key), isText: true },
    { source: 'file', input: values[nameOf(key)], where: `${nameOf(key)} in ${file}`, isText: false },
  ] as const
  const places = setting.fileOnly === true ? all.slice(2) : all
  const found = places.find(({ input }) => input !== undefined)
  if (found === undefined) return { value: setting.default, source: 'default' } as const
  return { value: check(setting, found), source: found.source }
}

function check(
  setting: Setting<unknown>,
  { input, where, isText }: { input: unknown; where: string; isText: boolean },
): unknown {
  const { fromText = (text: string) => text } = setting.kind
  const value = isText && typeof input === 'string' ? fromText(input.trim()) : input
  if (setting.kind.fits(value)) return value
  const part = setting.kind.wrongPart?.(value)
  throw new WakefulError('config.invalid', {
    setting: `${where}${part?.at ?? ''}`,
    expected: part?.expected ?? setting.kind.words,
    value: setting.secret === true ? 'this value' : display(input),
  })
}

function readSettings(file: string, read: (path: string) => string): FileValues {
  let parsed: unknown
  try {
    parsed = JSON.parse(read(file))
  } catch (thrown) {
    const reason = thrown instanceof SyntaxError ? 'config.not_json' : 'config.unreadable'
    throw new WakefulError(reason, { file, cause: errorText(thrown, 200) })
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new WakefulError('config.not_object', { file })
  const known = SETTING_LIST.map(([key]) => nameOf(key))
  const unknown = Object.keys(parsed).find((name) => !known.includes(name))
  if (unknown === undefined) return parsed as FileValues
  const near = closest(unknown, known, 3)
  throw new WakefulError('config.unknown_setting', { file, name: display(unknown), near, known })
}

function unknownVariables(env: ConfigInput['env']): string[] {
  const known = [
    ...SETTING_LIST.filter(([, { fileOnly }]) => fileOnly !== true).map(([key]) => variableOf(key)),
    ...OTHER_VARIABLES,
  ]
  return Object.keys(env)
    .filter((name) => name.startsWith('WAKEFUL_') && !known.includes(name))
    .map((name) => `${name} is set, but it is not a setting${suggestion(name, known)}`)
}

/** The text, or null if it is missing or blank. */
export function filled(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null
}

/** The effective configuration with the source of each value; secrets and passwords in URLs are hidden. */
export function printed({ config, sources }: Configured) {
  return SETTING_LIST.map(([key, { secret }]) => {
    const value = secret === true && config[key] !== null ? '(hidden)' : withoutSecrets(config[key])
    return { name: nameOf(key), value, source: sources[key] }
  })
}

/** The same as lines of text. */
export function printedLines(configured: Configured): string[] {
  const rows = printed(configured)
  const width = Math.max(...rows.map(({ name }) => name.length))
  const lines = rows.map(({ name, value, source }) => {
    const from = source === 'file' ? `file ${configured.file}` : source
    return `${name.padEnd(width)}  ${typeof value === 'string' ? value : JSON.stringify(value)}  (${from})`
  })
  return [...lines, ...configured.notes.map((note) => `note: ${note}`)]
}

function withoutSecrets(value: unknown): unknown {
  if (typeof value === 'string') return withoutPasswords(value)
  return Array.isArray(value) ? value.map(withoutSecrets) : value
}
