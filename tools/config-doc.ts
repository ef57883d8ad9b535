/** Prints docs/reference/configuration.md from the settings themselves: `node tools/config-doc.ts > docs/reference/configuration.md`. */
import { flagOf, nameOf, SETTING_LIST, type Setting, variableOf } from '../src/config/index.ts'

const HEAD = `<!-- Written by tools/config-doc.ts from src/config/settings.ts: change that, then run \`npm run docs\`. -->

# Configuration of \`wakeful serve\`

Set a setting with a flag, an environment variable, or a file. A flag overrides a variable, and a variable overrides the file.
The file is JSON, named by \`--config\` or \`WAKEFUL_CONFIG\`:

\`\`\`json
{
  "port": 7420,
  "db": "postgres://wakeful@db/wakeful",
  "log_format": "json",
  "quotas": { "owner": { "active_alarms": 10000, "sets_per_second": 20, "min_interval": "10s" } }
}
\`\`\`

Unknown settings and invalid values are rejected before anything is opened, with a suggestion. An unknown variable \`WAKEFUL_…\` causes a
warning. \`--print-config\` prints the effective settings and where each value comes from, with secrets hidden, including passwords in URLs.
`

/** The page, from the settings. */
export function configDoc(): string {
  const rows = SETTING_LIST.map(
    ([key, setting]) =>
      `| \`${nameOf(key)}\` | ${waysOf(key, setting)} | ${valueText(setting)} | ${defaultText(setting)} | ${setting.help} |`,
  )
  return `${HEAD}
| setting | flag, variable | value | default | meaning |
|---|---|---|---|---|
${rows.join('\n')}

The secret has no flag, because every user of the machine can read arguments.
`
}

function waysOf(key: string, { fileOnly, secret }: Setting<unknown>): string {
  if (fileOnly === true) return 'file only'
  const variable = `\`${variableOf(key)}\``
  return secret === true ? variable : `\`${flagOf(key)}\`, ${variable}`
}

function defaultText({ default: value }: Setting<unknown>): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return ''
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  return typeof value === 'object' ? 'none' : `\`${String(value)}\``
}

/** What a value may be, as a table has it: without the article. */
function valueText({ kind }: Setting<unknown>): string {
  return kind.words.replace(/^a /, '').replaceAll('|', '\\|')
}

if (import.meta.main) process.stdout.write(configDoc())
