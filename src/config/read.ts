import { readFileSync } from 'node:fs'
import { display, errorText, WakefulError } from '../error.ts'
import { closest } from '../time/index.ts'
import { QUOTA_NAMES } from './kinds.ts'
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

/** Variables with the same prefix that are no settings. */
const OTHER_VARIABLES = ['WAKEFUL_CONFIG', 'WAKEFUL_URL', 'WAKEFUL_KEY', 'WAKEFUL_TENANT', 'WAKEFUL_OWNER']

/** Reads flags, environment and file, in this order of precedence. Unknown settings and invalid values are errors that name them. */
export function readConfig(input: ConfigInput): Configured {
  const { flags, env } = input
  const file = filled(flags.config) ?? filled(env.WAKEFUL_CONFIG)
  const inFile =
    file === null ? {} : readObject(file, input.readFile ?? ((path) => readFileSync(path, 'utf8')))
  if (file !== null) assertKnown(inFile, file)
  const config: Record<string, unknown> = {}
  const sources: Record<string, Source> = {}
  for (const [key, setting] of SETTING_LIST) {
    const found = find(key, setting, { flags, env, inFile, file })
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

interface Places {
  readonly flags: ConfigInput['flags']
  readonly env: ConfigInput['env']
  readonly inFile: Readonly<Record<string, unknown>>
  readonly file: string | null
}

function find(key: string, setting: Setting<unknown>, { flags, env, inFile, file }: Places) {
  const flag = flags[key]
  if (setting.fileOnly !== true && flag !== undefined)
    return { value: check(setting, flag === true ? 'on' : flag, flagOf(key), true), source: 'flag' } as const
  const variable = filled(env[variableOf(key)])
  if (setting.fileOnly !== true && variable !== null)
    return { value: check(setting, variable, variableOf(key), true), source: 'environment' } as const
  const name = nameOf(key)
  if (Object.hasOwn(inFile, name))
    return { value: check(setting, inFile[name], `${name} in ${file}`, false), source: 'file' } as const
  return { value: setting.default, source: 'default' } as const
}

function check(setting: Setting<unknown>, input: unknown, where: string, isText: boolean): unknown {
  const value = isText && typeof input === 'string' ? setting.kind.fromText(input.trim()) : input
  if (setting.kind.fits(value)) return value
  const part = setting.kind.wrongPart?.(value) ?? ''
  throw new WakefulError('config.invalid', {
    setting: `${where}${partWords(part)}`,
    expected: setting.kind.wordsOf?.(part) ?? setting.kind.words,
    value: setting.secret === true ? 'this value' : display(input),
  })
}

/** Where a value is invalid; an unknown name comes with a suggestion. */
function partWords(part: string): string {
  if (part === '') return ''
  const [name = '', ...outer] = part.split('.').reverse()
  if (QUOTA_NAMES.includes(name)) return ` at ${part}`
  const at = outer.length === 0 ? '' : ` at ${outer.join('.')}`
  return `${at} has the unknown key ${display(name)}${meant(name, QUOTA_NAMES)}: it`
}

function readObject(file: string, read: (path: string) => string): Readonly<Record<string, unknown>> {
  let parsed: unknown
  try {
    parsed = JSON.parse(read(file))
  } catch (thrown) {
    const text = errorText(thrown, 200)
    const detail = thrown instanceof SyntaxError ? `it is not JSON: ${text}` : text
    throw new WakefulError('config.unreadable', { file, detail })
  }
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed))
    return parsed as Record<string, unknown>
  throw new WakefulError('config.not_object', { file })
}

function assertKnown(inFile: Readonly<Record<string, unknown>>, file: string): void {
  const known = SETTING_LIST.map(([key]) => nameOf(key))
  for (const name of Object.keys(inFile)) {
    if (known.includes(name)) continue
    throw new WakefulError('config.unknown_setting', {
      file,
      name: display(name),
      near: closest(name, known, 3),
      known,
    })
  }
}

function unknownVariables(env: ConfigInput['env']): string[] {
  const known = [
    ...SETTING_LIST.filter(([, { fileOnly }]) => fileOnly !== true).map(([key]) => variableOf(key)),
    ...OTHER_VARIABLES,
  ]
  return Object.keys(env)
    .filter((name) => name.startsWith('WAKEFUL_') && !known.includes(name))
    .map((name) => `${name} is set, but it is not a setting${meant(name, known)}`)
}

function meant(name: string, known: readonly string[]): string {
  const near = closest(name, known, 3)
  return near === null ? '' : ` (did you mean ${near}?)`
}

function filled(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null
}
