import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** The result of a program. */
export interface Ran {
  readonly code: number | string
  readonly stdout: string
  readonly stderr: string
  readonly durationMs: number
}

/** The examples' package is linked as `wakeful`: it exports this checkout's sources. */
const WAKEFUL_PACKAGE = resolve('examples')

/** A folder outside the checkout in which `wakeful` can be imported; `remove` deletes it. */
export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'wakeful-docs-'))
  mkdirSync(join(path, 'node_modules'))
  symlinkSync(WAKEFUL_PACKAGE, join(path, 'node_modules', 'wakeful'), 'dir')
  for (const known of ['@modelcontextprotocol', '@types', 'pg', 'standardwebhooks'])
    symlinkSync(resolve('node_modules', known), join(path, 'node_modules', known), 'dir')
  writeFileSync(join(path, 'package.json'), '{ "type": "module" }\n')
  const remove = () => rmSync(path, { recursive: true, force: true, maxRetries: 3 })
  return { path, remove }
}

/** Runs a program in its own folder, with a timeout; `env` is added to the environment of this process. */
export function runProgram(
  file: string,
  folder: string,
  timeoutMs: number,
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  mkdirSync(folder, { recursive: true })
  const start = performance.now()
  const options = {
    cwd: folder,
    timeout: timeoutMs,
    env: { ...process.env, NO_COLOR: '1', TZ: 'UTC', ...env },
  }
  return new Promise((done) => {
    execFile(process.execPath, [file], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : (error.code ?? error.signal ?? 'killed')
      done({ code, stdout, stderr, durationMs: Math.round(performance.now() - start) })
    })
  })
}

/** Runs tasks with bounded concurrency; the promises of all tasks are returned at once. */
export function inTurns<T>(tasks: readonly (() => Promise<T>)[], concurrency: number): Promise<T>[] {
  const promises = tasks.map(() => Promise.withResolvers<T>())
  let next = 0
  const work = async () => {
    for (let index = next++; index < tasks.length; index = next++) {
      await tasks[index]!().then(promises[index]!.resolve, promises[index]!.reject)
    }
  }
  for (let worker = 0; worker < concurrency; worker++) void work()
  return promises.map(({ promise }) => promise)
}
