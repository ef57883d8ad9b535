/** Prints docs/reference/configuration.md from the settings themselves: `node tools/config-doc.ts > docs/reference/configuration.md`. */
import { flagOf, nameOf, SETTING_LIST, type Setting, variableOf } from '../src/config/index.ts'

const HEAD = `<!-- Written by tools/config-doc.ts from src/config/settings.ts: change that, then run \`npm run docs\`. -->

# Configuration of \`wakeful serve\`

A setting is given by a flag, a variable of the environment, or a file; a flag wins over a variable, and that over the file.
The file is JSON, named by \`--config\` or \`WAKEFUL_CONFIG\`:

\`\`\`json
{
  "port": 7420,
  "db": "postgres://wakeful@db/wakeful",
  "log_format": "json",
  "quotas": { "owner": { "active_alarms": 10000, "sets_per_second": 20, "min_interval": "10s" } }
}
\`\`\`

A name that nobody knows, or a value that cannot be, is refused with the nearest that would be right; nothing is opened then. A variable \`WAKEFUL_…\` that nothing
reads is told of. \`--print-config\` prints what is in effect and where each value comes from, with secrets hidden, passwords in
addresses too.
`

/** The page, from the settings. */
export function configDoc(): string {
  const rows = SETTING_LIST.map(
    ([key, setting]) =>
      `| \`${nameOf(key)}\` | ${waysOf(key, setting)} | ${shown(setting)} | ${setting.help}: ${escaped(setting.kind.words)} |`,
  )
  return `${HEAD}
| setting | flag, variable | default | |
|---|---|---|---|
${rows.join('\n')}

The secret has no flag: arguments can be read by everyone on the machine.
`
}

function waysOf(key: string, { fileOnly, secret }: Setting<unknown>): string {
  if (fileOnly === true) return 'file only'
  const variable = `\`${variableOf(key)}\``
  return secret === true ? variable : `\`${flagOf(key)}\`, ${variable}`
}

function shown({ default: value }: Setting<unknown>): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return ''
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  return typeof value === 'object' ? 'none' : `\`${String(value)}\``
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|')
}

if (import.meta.main) process.stdout.write(configDoc())
