import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'

/** Reads the options of a script. Ends the process after `--help` with 0, and after a wrong option with 2. */
export function readOptions<T extends ParseArgsOptionsConfig>(usage: string, options: T) {
  if (process.argv.includes('--help') || process.argv.includes('-h')) {
    console.log(usage)
    process.exit(0)
  }
  try {
    return parseArgs({ options }).values
  } catch (thrown) {
    const { code, message } = thrown as { code?: unknown; message?: string }
    if (!String(code).startsWith('ERR_PARSE_ARGS')) throw thrown
    console.error(`${message}\n\n${usage}`)
    process.exit(2)
  }
}
