import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { entrust, folderOf, freePort, type Needed, ownFolder, unprivileged } from './programs.ts'

/** A PostgreSQL for the tests. Nothing of it is left when it has stopped. */
export interface PostgresServer {
  /** The URL of a database; of the server's first one by default. */
  url(database?: string): string
  readonly port: number
  /** The server's log. */
  readonly logPath: string
  /** Stops it and removes its files. */
  stop(): Promise<void>
  /** Restarts the server as after a crash. */
  crash(): Promise<void>
  /** Stops the server as in a crash. */
  die(): Promise<void>
  /** Suspends every process of the server, so that it answers nothing; the function returned resumes them. */
  freeze(): () => void
}

const NEEDED: Needed = {
  programs: ['initdb', 'postgres', 'pg_isready', 'pg_basebackup'],
  folders: ['/usr/lib/postgresql/*/bin', '/usr/pgsql-*/bin', '/opt/homebrew/opt/postgresql@*/bin'],
  package: 'postgresql',
  advice:
    'these tests need a real PostgreSQL 14 or newer: install one (Debian: apt-get install -y postgresql) or put initdb and postgres in PATH',
}
const READY_MS_MAX = 60_000
/** Stops the server when its standard input is closed, even if the tests are killed. */
const UNTIL_ALONE = '"$@" & server=$!; cat > /dev/null; kill -QUIT $server; wait $server'

/** Starts a server in a new folder on a free port. These settings come last. */
export async function startPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  return start(settings, (data) => [
    'initdb',
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'],
  ])
}

/** Starts a standby that follows another server until it is promoted. */
export async function startStandby(primary: PostgresServer, settings: readonly string[] = []) {
  const from = ['-h', '127.0.0.1', '-p', String(primary.port), '-U', 'postgres']
  return start(settings, (data) => [
    'pg_basebackup',
    [...from, '-D', data, '-R', '-X', 'stream', '-c', 'fast', '--no-sync'],
  ])
}

async function start(
  settings: readonly string[],
  fill: (data: string) => [program: string, args: readonly string[]],
): Promise<PostgresServer> {
  const bin = folderOf(NEEDED)
  const folder = ownFolder('postgres')
  const data = join(folder, 'data')
  mkdirSync(data)
  entrust(data)
  const as = unprivileged()
  const env = { ...process.env, LC_ALL: 'C.UTF-8', TZ: 'UTC' }
  const [program, args] = fill(data)
  execFileSync(join(bin, program), args, { ...as, env, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  const port = await freePort()
  const logPath = join(folder, 'log')
  const launch = async () => {
    const log = openSync(logPath, 'a')
    const place = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`]
    const tuned = [
      'max_connections=200',
      'log_min_messages=fatal',
      'shared_buffers=256MB',
      'max_wal_size=4GB',
    ]
    const flags = [...place, ...tuned, ...settings].flatMap((setting) => ['-c', setting])
    const command = [join(bin, 'postgres'), '-D', data, ...flags]
    const child = spawn('/bin/sh', ['-c', UNTIL_ALONE, 'sh', ...command], {
      ...as,
      env,
      cwd: folder,
      stdio: ['pipe', 'ignore', log],
    })
    closeSync(log)
    await untilReady(join(bin, 'pg_isready'), port, () => child.exitCode !== null)
    return child
  }
  let child = await launch()
  const die = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.stdin!.end()
    await exited
  }
  return {
    port,
    logPath,
    url: (database = 'postgres') => `postgres://postgres@127.0.0.1:${port}/${database}`,
    die,
    freeze: () => freeze(Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])),
    async stop() {
      await die()
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
    async crash() {
      await die()
      child = await launch()
    },
  }
}

function freeze(postmaster: number): () => void {
  // First of all, so that it starts no more processes.
  process.kill(postmaster, 'SIGSTOP')
  const processes = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  const backends = processes
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([pid, parent]) => (parent === postmaster ? pid! : []))
  for (const pid of backends) process.kill(pid, 'SIGSTOP')
  return () => {
    for (const pid of [...backends, postmaster]) process.kill(pid, 'SIGCONT')
  }
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
