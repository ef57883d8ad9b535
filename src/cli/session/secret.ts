import { readFileSync } from 'node:fs'
import { type Config, settingOf } from '../../config/index.ts'
import { WakefulError } from '../../error.ts'
import type { Terminal } from '../terminal/index.ts'

/** The master secret of a configuration; undefined if it names none. */
export function configuredSecret({
  secret,
  secretFile: file,
}: Pick<Config, 'secret' | 'secretFile'>): string | undefined {
  if (secret !== null || file === null) return secret ?? undefined
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (cause) {
    throw new WakefulError('secret.file', { file }, { cause })
  }
}

/** The same from the environment alone, for commands without a configuration. */
export function secretInEnvironment({ env }: Pick<Terminal, 'env'>): string | undefined {
  return configuredSecret({ secret: settingOf('secret', env), secretFile: settingOf('secretFile', env) })
}
