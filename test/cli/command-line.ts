import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, expect } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { systemClock } from '../../src/hosts/node/index.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'wakeful-line-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** What a command output, and its exit code. */
export interface CommandOutput {
  stdout: string
  stderr: string
  readonly code: 0 | 1 | 2
}

/** The file of the test's own store. */
export function storeFile(): string {
  return join(dir, 'alarms.db')
}

/** Runs a command in this process, on a store that is the test's own, or where the environment says. */
export async function wakeful(
  args: readonly string[],
  input = '',
  env: Readonly<Record<string, string>> = { WAKEFUL_DB: storeFile() },
  columns: number | null = null,
): Promise<CommandOutput> {
  const output = { stdout: '', stderr: '' }
  const sink = (name: 'stdout' | 'stderr') => ({
    write(text: string, done?: () => void) {
      output[name] += text
      done?.()
    },
  })
  const terminal = {
    stdout: { ...sink('stdout'), ...(columns !== null && { isTTY: true, columns }) },
    stderr: sink('stderr'),
    stdin: Readable.from([input]),
    env: { ...env, NO_COLOR: '1' },
    pid: 1,
    now: () => systemClock.now(),
    monotonic: () => systemClock.monotonic(),
    onSignal: () => () => {},
    exit: () => {},
  }
  const code = await run(args, { terminal, version: '1.2.3', invocation: 'wakeful', exitCode: 0 })
  return { ...output, code }
}

/** The same as JSON, where it went well. */
export async function json(args: readonly string[]) {
  const { stdout, stderr, code } = await wakeful([...args, '--json'])
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
  return JSON.parse(stdout)
}
