import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { afterAll } from 'vitest'

const LAUNCH = resolve('src/cli/launch.js')
const children = new Set<ChildProcess>()
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
})

/** `wakeful serve` in its own process. */
export interface ServeProcess {
  readonly url: string
  readonly child: ChildProcess
  /** Everything it has printed, to stdout and stderr. */
  output(): string
  /** The exit code, once it has ended. */
  readonly ended: Promise<number | null>
}

/** Starts the real command line's server on a free port, and waits until it listens. */
export async function serve(
  args: readonly string[],
  env: Record<string, string>,
  cwd: string,
): Promise<ServeProcess> {
  const child = spawn(process.execPath, [LAUNCH, 'serve', '--port', '0', ...args], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.add(child)
  let output = ''
  const ended = new Promise<number | null>((end) =>
    child.once('exit', (code) => {
      children.delete(child)
      end(code)
    }),
  )
  const url = await new Promise<string>((found, failed) => {
    const onData = (piece: Buffer) => {
      output += piece
      const at = /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0]
      if (at !== undefined) found(at)
    }
    child.stdout.on('data', onData)
    child.stderr.on('data', onData)
    void ended.then((code) => failed(new Error(`ended with ${code}: ${output}`)))
  })
  return { url, child, output: () => output, ended }
}

/** Runs a command and waits until it ends. */
export function command(args: readonly string[], env: Record<string, string>, cwd: string): Promise<string> {
  return new Promise((done, failed) => {
    execFile(
      process.execPath,
      [LAUNCH, ...args],
      { cwd, env: { PATH: process.env.PATH, ...env } },
      (thrown, stdout, stderr) =>
        thrown === null ? done(stdout + stderr) : failed(new Error(stdout + stderr)),
    )
  })
}
