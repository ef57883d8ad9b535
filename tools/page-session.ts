import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { codeBlocks } from './code-blocks.ts'

/** A block of shell commands that is run, with what the page says it prints. */
export interface ShellStep {
  readonly line: number
  readonly text: string
  readonly printed: { readonly language: string; readonly text: string } | null
}

/** What became of a page's commands: what each block printed, and how the whole ended. */
export interface Session {
  readonly code: number | string
  readonly stderr: string
  readonly printed: readonly string[]
}

/** Where the server of the examples is, in pages; a run has one of its own. */
const ADDRESS = /127\.0\.0\.1:7420/g
const SERVING_MS_MAX = 60_000
const MARK = '-- end of block --'

/** The blocks marked `sh run`; one marked `printed` right after says what it prints. */
export function shellSteps(markdown: string): ShellStep[] {
  const blocks = codeBlocks(markdown)
  return blocks.flatMap((block, index) => {
    if (block.language !== 'sh' || block.info !== 'run') return []
    const next = blocks[index + 1]
    return { line: block.line, text: block.text, printed: next?.info === 'printed' ? next : null }
  })
}

/** Runs a page's blocks one after the other in one shell, in a folder of its own, beside a `wakeful serve` of their own. */
export async function runSession(steps: readonly ShellStep[], timeoutMs: number): Promise<Session> {
  const folder = mkdtempSync(join(tmpdir(), 'wakeful-page-'))
  try {
    const env = environment(folder)
    const server = await serve(folder, env)
    try {
      const text = steps.map((step) => `${step.text}\necho '${MARK}'`).join('\n')
      return await bash(text.replace(ADDRESS, server.address), folder, env, timeoutMs)
    } finally {
      await server.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** What is wrong with what a block printed; nothing where it is as the page says. `…` stands for any text, in JSON within a text. */
export function difference(expected: NonNullable<ShellStep['printed']>, printed: string): string {
  const isAlike =
    expected.language === 'json'
      ? isWithin(JSON.parse(expected.text), parsed(printed))
      : pattern(expected.text).test(printed.trim())
  return isAlike ? '' : `the page says:\n${expected.text}\nit printed:\n${printed}`
}

/** Whether a value has everything that is expected; an object may have more fields. */
function isWithin(expected: unknown, actual: unknown): boolean {
  if (typeof expected === 'string') return typeof actual === 'string' && pattern(expected).test(actual)
  if (typeof expected !== 'object' || expected === null) return expected === actual
  if (typeof actual !== 'object' || actual === null || Array.isArray(expected) !== Array.isArray(actual))
    return false
  if (Array.isArray(expected) && expected.length !== (actual as unknown[]).length) return false
  return Object.entries(expected).every(([name, value]) =>
    isWithin(value, (actual as Record<string, unknown>)[name]),
  )
}

function pattern(text: string): RegExp {
  return new RegExp(`^${text.trim().split('…').map(RegExp.escape).join('.*')}$`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function environment(folder: string): NodeJS.ProcessEnv {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  const launch = `exec '${process.execPath}' '${resolve('src/cli/launch.js')}' "$@"`
  writeFileSync(join(bin, 'wakeful'), `#!/bin/sh\n${launch}\n`, { mode: 0o755 })
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('WAKEFUL_'))
  const path = `${bin}${delimiter}${process.env.PATH}`
  return { ...Object.fromEntries(inherited), PATH: path, NO_COLOR: '1', TZ: 'UTC' }
}

async function serve(folder: string, env: NodeJS.ProcessEnv) {
  const child = spawn(join(folder, 'bin', 'wakeful'), ['serve', '--port', '0', '--json'], {
    cwd: folder,
    env,
  })
  const ended = new Promise<void>((done) => child.once('exit', () => done()))
  const stop = async () => {
    child.kill()
    await ended
  }
  try {
    return { address: await addressOf(child), stop }
  } catch (thrown) {
    await stop()
    throw thrown
  }
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((found, failed) => {
    let output = ''
    const fail = () => failed(new Error(`the server does not serve:\n${output}`))
    const timer = setTimeout(fail, SERVING_MS_MAX)
    const listen = (chunk: Buffer) => {
      output += chunk.toString()
      const url = /"url":"http:\/\/([^"]+)"/.exec(output)?.[1]
      if (url === undefined) return
      clearTimeout(timer)
      found(url)
    }
    child.stdout!.on('data', listen)
    child.stderr!.on('data', listen)
    child.once('exit', fail)
  })
}

function bash(text: string, cwd: string, env: NodeJS.ProcessEnv, timeout: number): Promise<Session> {
  return new Promise((done) => {
    const args = ['-euo', 'pipefail', '-c', text]
    execFile('bash', args, { cwd, env, timeout }, (error, stdout, stderr) => {
      const code = error === null ? 0 : (error.code ?? error.signal ?? 'killed')
      done({ code, stderr, printed: stdout.split(`${MARK}\n`) })
    })
  })
}
