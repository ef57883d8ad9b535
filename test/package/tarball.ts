import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** One file of a tarball. */
export interface PackedFile {
  readonly path: string
  readonly size: number
}

/** What `npm pack` made. */
export interface Tarball {
  readonly file: string
  readonly files: readonly PackedFile[]
  readonly size: number
}

/**
 * Packs this checkout as `npm pack` does in a clean clone: from the files that git knows, with nothing built. Only
 * node_modules is shared.
 */
export function packTarball(folder: string): Tarball {
  const clone = join(folder, 'clone')
  const listed = run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], '.')
  for (const path of listed.split('\0')) {
    if (/^(?:src|docs|tools|examples)\/|^[^/]+$/.test(path))
      cpSync(path, join(clone, path), { recursive: true })
  }
  mkdirSync(clone, { recursive: true })
  symlinkSync(resolve('node_modules'), join(clone, 'node_modules'), 'dir')
  const answer = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', folder], clone)) as Record<
    string,
    { filename: string; files: PackedFile[]; size: number }
  >
  // An array under npm 11, an object by name under newer versions.
  const [{ filename, files, size }] = Object.values(answer) as [(typeof answer)[string]]
  return { file: join(folder, filename), files, size }
}

/** Runs a program to its end and returns what it printed; throws what it printed if it fails. */
export function run(command: string, args: readonly string[], cwd: string): string {
  const env = { ...process.env, NO_COLOR: '1' }
  const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe']
  try {
    return execFileSync(command, args, { cwd, encoding: 'utf8', env, stdio, maxBuffer: 64 * 1024 * 1024 })
  } catch (thrown) {
    const { stdout, stderr, status } = thrown as { stdout: string; stderr: string; status: number }
    const text = `${command} ${args[0]} ended with ${status}\n${stdout}\n${stderr}`
    throw new Error(text, { cause: thrown })
  }
}
