import type { Command } from 'commander'
import { type Config, flagOf, SETTING_LIST, variableOf } from './settings.ts'

/** Adds the flag of every setting to a command, except those that every command has (`--db`, `--timezone`). */
export function addConfigFlags(command: Command): Command {
  command.option('--config <file>', 'settings from a JSON file (WAKEFUL_CONFIG)')
  command.option('--print-config', 'print the effective configuration without secrets, and exit')
  for (const [key, { kind, help, default: initial, noFlag, fileOnly }] of SETTING_LIST) {
    if (noFlag === true || fileOnly === true) continue
    const standard =
      initial === null || (Array.isArray(initial) && initial.length === 0) ? '' : `default ${word(initial)}, `
    const value = kind.words === 'on or off' ? ' [on|off]' : ' <value>'
    const choices = kind.isChoice === true ? `: ${kind.words}` : ''
    command.option(`${flagOf(key)}${value}`, `${help}${choices} (${standard}${variableOf(key)})`)
  }
  return command
}

/** The options of `open` that are settings. */
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
