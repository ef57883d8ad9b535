import { type ExecFileSyncOptions, execFileSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, globSync, mkdtempSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

/** A user other than root: neither PostgreSQL nor PgBouncer runs as root. */
const NOBODY = 'nobody'

const APT_LOCK = join(tmpdir(), 'wakeful-tests-apt.lock')

/** A program that tests need, and how to get it. */
export interface Needed {
  /** All of them must be in one folder. */
  readonly programs: readonly string[]
  /** Folders to search beside PATH, in order of preference. */
  readonly folders: readonly string[]
  /** The Debian package that root installs if it is missing. */
  readonly package: string
  /** The advice for a user who is not root. */
  readonly advice: string
}

/** The folder of programs that tests need: found, installed if possible, or rejected with advice. */
export function folderOf(needed: Needed): string {
  const found = find(needed)
  if (found !== undefined) return found
  if (!isRoot() || !existsSync('/usr/bin/apt-get')) throw new Error(needed.advice)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const quiet: ExecFileSyncOptions = { env, stdio: ['ignore', 'ignore', 'inherit'] }
  try {
    // Test files run concurrently, and apt runs one at a time.
    const inTurn = (...args: string[]) => execFileSync('flock', [APT_LOCK, 'apt-get', ...args], quiet)
    inTurn('update', '-q')
    inTurn('install', '-y', '-q', '--no-install-recommends', needed.package)
  } catch (cause) {
    throw new Error(needed.advice, { cause })
  }
  const installed = find(needed)
  if (installed === undefined) throw new Error(needed.advice)
  return installed
}

function find({ programs, folders }: Needed): string | undefined {
  const known = [...(process.env.PATH ?? '').split(delimiter), ...folders.flatMap(byVersion)]
  return known.find((folder) => programs.every((name) => existsSync(join(folder, name))))
}

/** Newest first. */
function byVersion(pattern: string): string[] {
  const number = (path: string) => Number(/(\d+)\/bin$/.exec(path)?.[1] ?? 0)
  return globSync(pattern).sort((a, b) => number(b) - number(a))
}

/** The user that runs a server: `nobody` if the tests run as root, otherwise the current one. */
export function unprivileged(): { uid: number; gid: number } | Record<string, never> {
  if (!isRoot()) return {}
  const id = (flag: string) => Number(execFileSync('id', [flag, NOBODY], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

/** A folder that belongs to the server's user. */
export function ownFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `wakeful-${name}-`))
  entrust(folder)
  return folder
}

/** Gives a file or folder to the server's user. */
export function entrust(path: string): void {
  chmodSync(path, 0o700)
  const { uid, gid } = unprivileged()
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid)
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}

function isRoot(): boolean {
  return process.getuid?.() === 0
}
