import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** What became of a program. */
export interface Ran {
  readonly code: number | string
  readonly stdout: string
  readonly stderr: string
  readonly tookMs: number
}

/** The examples' package stands for `wakeful`: it answers with this checkout's sources. */
const STANDS_FOR_WAKEFUL = resolve('examples')

/** A folder outside the checkout in which `wakeful` can be imported; `remove` deletes it. */
export function workshop(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'wakeful-docs-'))
  mkdirSync(join(path, 'node_modules'))
  symlinkSync(STANDS_FOR_WAKEFUL, join(path, 'node_modules', 'wakeful'), 'dir')
  for (const known of ['@modelcontextprotocol', '@types', 'pg', 'standardwebhooks'])
    symlinkSync(resolve('node_modules', known), join(path, 'node_modules', known), 'dir')
  writeFileSync(join(path, 'package.json'), '{ "type": "module" }\n')
  const remove = () => rmSync(path, { recursive: true, force: true, maxRetries: 3 })
  return { path, remove }
}

/** Runs a program in a folder of its own, within a bound; `env` is added to what this process has. */
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
      done({ code, stdout, stderr, tookMs: Math.round(performance.now() - start) })
    })
  })
}

/** Runs tasks so many at a time; each has its promise at once. */
export function inTurns<T>(tasks: readonly (() => Promise<T>)[], hands: number): Promise<T>[] {
  const promises = tasks.map(() => Promise.withResolvers<T>())
  let next = 0
  const work = async () => {
    for (let index = next++; index < tasks.length; index = next++) {
      await tasks[index]!().then(promises[index]!.resolve, promises[index]!.reject)
    }
  }
  for (let hand = 0; hand < hands; hand++) void work()
  return promises.map(({ promise }) => promise)
}
