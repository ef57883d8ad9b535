import type { Command } from 'commander'
import { type Config, flagOf, SETTING_LIST, variableOf } from './settings.ts'

/** Adds the flag of every setting to a command; those that every command has (`--db`, `--timezone`) are left to it. */
export function addConfigFlags(command: Command): Command {
  command.option('--config <file>', 'settings from a JSON file (WAKEFUL_CONFIG)')
  command.option('--print-config', 'print the effective configuration, secrets hidden, and end')
  for (const [key, { kind, help, default: value, noFlag, fileOnly }] of SETTING_LIST) {
    if (noFlag === true || fileOnly === true) continue
    const shown =
      value === null || (Array.isArray(value) && value.length === 0) ? '' : `default ${word(value)}, `
    const takes = kind.words === 'on or off' ? ' [on|off]' : ' <value>'
    const may = kind.isChoice === true ? `: ${kind.words}` : ''
    command.option(`${flagOf(key)}${takes}`, `${help}${may} (${shown}${variableOf(key)})`)
  }
  return command
}

/** What `open` is given of it. */
export function openSettings(config: Config) {
  const { concurrency, batch, grace, drain, retention, timezone, maxFailures } = config
  return {
    concurrency,
    batch,
    grace,
    drain,
    retention: retention === 'forever' ? null : retention,
    timezone,
    defaults: { maxFailures },
  }
}

function word(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  return String(value)
}
