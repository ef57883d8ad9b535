import { withoutPasswords } from '../redaction/index.ts'
import type { Configured, Source } from './read.ts'
import { nameOf, SETTING_LIST } from './settings.ts'

/** A setting without secrets. */
export interface PrintedSetting {
  readonly name: string
  readonly value: unknown
  readonly source: Source
}

const HIDDEN = '(hidden)'

/** The effective configuration with the source of each value; secrets and passwords in URLs are hidden. */
export function printed({ config, sources }: Pick<Configured, 'config' | 'sources'>): PrintedSetting[] {
  return SETTING_LIST.map(([key, { secret }]) => {
    const value = secret === true && config[key] !== null ? HIDDEN : withoutSecrets(config[key])
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
