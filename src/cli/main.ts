import { readFileSync } from 'node:fs'
import { systemClock } from '../hosts/node/index.ts'
import { run } from './run.ts'
import type { CliContext, Terminal } from './terminal/index.ts'

const isSource = import.meta.url.endsWith('.ts')

const terminal: Terminal = {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  env: process.env,
  pid: process.pid,
  now: () => systemClock.now(),
  monotonic: () => systemClock.monotonic(),
  onSignal(listener) {
    process.on('SIGINT', listener).on('SIGTERM', listener)
    return () => process.off('SIGINT', listener).off('SIGTERM', listener)
  },
  exit: (code) => process.exit(code),
}

const cli: CliContext = {
  terminal,
  version: versionOf(new URL('../../package.json', import.meta.url)),
  invocation: isSource ? 'npm run wakeful --' : 'wakeful',
  exitCode: 0,
}

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // The reader has closed the pipe (`| head`), which is not a failure.
    process.exit(error.code === 'EPIPE' ? 0 : 1)
  })
}

process.exitCode = await run(process.argv.slice(2), cli)

function versionOf(file: URL): string {
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
