import { type ExecFileSyncOptions, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

/** A PostgreSQL of the tests' own: nothing of it is left when it has stopped. */
export interface PostgresServer {
  /** The URL of a database; of the server's first one where none is named. */
  url(database?: string): string
  readonly port: number
  /** What the server says, where its settings let it say something. */
  readonly logPath: string
  /** Stops it: at once, without a checkpoint, where `immediate` is asked for. */
  stop(): Promise<void>
  /** Ends every process of the server as a crash would, and starts it again. */
  crash(): Promise<void>
}

const INSTALL =
  'these tests need a real PostgreSQL 14 or newer: install one (Debian: apt-get install -y postgresql) or put initdb and postgres in PATH'
const READY_MS_MAX = 30_000
/** Anyone but root: PostgreSQL refuses to run as root. */
const NOBODY = 'nobody'

/** Starts a server in a folder of its own, on a free port of this machine; the settings given come last. */
export async function startPostgres(more: readonly string[] = []): Promise<PostgresServer> {
  const bin = binaries()
  const folder = mkdtempSync(join(tmpdir(), 'wakeful-postgres-'))
  const data = join(folder, 'data')
  mkdirSync(data)
  const user = isRoot() ? idsOf(NOBODY) : null
  for (const path of [folder, data]) {
    chmodSync(path, 0o700)
    if (user !== null) chownSync(path, user.uid, user.gid)
  }
  const as = user === null ? {} : user
  const env = { ...process.env, LC_ALL: 'C.UTF-8', TZ: 'UTC' }
  execFileSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'],
    { ...as, env, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const port = await freePort()
  const logPath = join(folder, 'log')
  const launch = async () => {
    const log = openSync(logPath, 'a')
    const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`]
    const tuned = [
      'max_connections=200',
      'log_min_messages=fatal',
      'shared_buffers=256MB',
      'max_wal_size=4GB',
    ]
    const flags = [...settings, ...tuned, ...more].flatMap((setting) => ['-c', setting])
    const child = spawn(join(bin, 'postgres'), ['-D', data, ...flags], {
      ...as,
      env,
      cwd: folder,
      stdio: ['ignore', 'ignore', log],
    })
    closeSync(log)
    await untilReady(join(bin, 'pg_isready'), port, () => child.exitCode !== null)
    return child
  }
  let child = await launch()
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
  }
  return {
    port,
    logPath,
    url: (database = 'postgres') => `postgres://postgres@127.0.0.1:${port}/${database}`,
    async stop() {
      await end('SIGINT')
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
    async crash() {
      await end('SIGQUIT')
      child = await launch()
    },
  }
}

/** Where the server's programs are: in PATH, else where Debian, Red Hat and Homebrew put them; else installed, as root. */
function binaries(): string {
  const known = [
    ...(process.env.PATH ?? '').split(delimiter),
    ...globSync('/usr/lib/postgresql/*/bin').sort(byVersion).reverse(),
    ...globSync('/usr/pgsql-*/bin').sort(byVersion).reverse(),
    ...globSync('/opt/homebrew/opt/postgresql@*/bin').sort(byVersion).reverse(),
  ]
  const found = known.find((folder) =>
    ['initdb', 'postgres', 'pg_isready'].every((name) => existsSync(join(folder, name))),
  )
  if (found !== undefined) return found
  if (!installed && isRoot() && existsSync('/usr/bin/apt-get')) {
    installed = true
    install()
    return binaries()
  }
  throw new Error(INSTALL)
}

let installed = false

function install(): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const quiet: ExecFileSyncOptions = { env, stdio: ['ignore', 'ignore', 'inherit'] }
  try {
    execFileSync('apt-get', ['update', '-q'], quiet)
    execFileSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', 'postgresql'], quiet)
  } catch (cause) {
    throw new Error(INSTALL, { cause })
  }
}

function byVersion(a: string, b: string): number {
  const number = (path: string) => Number(/(\d+)\/bin$/.exec(path)?.[1] ?? 0)
  return number(a) - number(b)
}

function isRoot(): boolean {
  return process.getuid?.() === 0
}

function idsOf(user: string): { uid: number; gid: number } {
  const id = (flag: string) => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}

async function untilReady(isReady: string, port: number, hasEnded: () => boolean): Promise<void> {
  const end = performance.now() + READY_MS_MAX
  for (;;) {
    try {
      execFileSync(isReady, ['-h', '127.0.0.1', '-p', String(port), '-q'])
      return
    } catch (cause) {
      if (hasEnded() || performance.now() > end) throw new Error('PostgreSQL did not start', { cause })
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
