import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { entrust, folderOf, freePort, type Needed, ownFolder, unprivileged } from './programs.ts'

/** A PgBouncer for the tests, in transaction mode. */
export interface PgBouncer {
  /** The same database through PgBouncer. */
  through(url: string): string
  stop(): Promise<void>
}

const NEEDED: Needed = {
  programs: ['pgbouncer'],
  folders: ['/usr/sbin', '/usr/local/bin', '/opt/homebrew/bin'],
  package: 'pgbouncer',
  advice:
    'this test needs a real PgBouncer: install one (Debian: apt-get install -y pgbouncer) or put it in PATH',
}
const READY_MS_MAX = 30_000
/** Stops it when its standard input is closed, even if the tests are killed. */
const UNTIL_ALONE = '"$@" & bouncer=$!; cat > /dev/null; kill -TERM $bouncer; wait $bouncer'

/** Starts one in front of a server with few connections and default settings. */
export async function startPgBouncer(server: URL): Promise<PgBouncer> {
  const program = join(folderOf(NEEDED), 'pgbouncer')
  const folder = ownFolder('pgbouncer')
  const port = await freePort()
  const files = { 'users.txt': '"postgres" ""\n', 'pgbouncer.ini': configuration(server, port, folder) }
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text)
    entrust(join(folder, name))
  }
  const command = [program, '-q', join(folder, 'pgbouncer.ini')]
  const child = spawn('/bin/sh', ['-c', UNTIL_ALONE, 'sh', ...command], {
    ...unprivileged(),
    cwd: folder,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  await untilReady(port)
  return {
    through(url) {
      const address = new URL(url)
      address.port = String(port)
      return address.href
    },
    async stop() {
      const exited = once(child, 'exit')
      child.stdin.end()
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function configuration(server: URL, port: number, folder: string): string {
  return `[databases]
* = host=${server.hostname} port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, 'users.txt')}
pool_mode = transaction
default_pool_size = 6
max_client_conn = 200
logfile = ${join(folder, 'pgbouncer.log')}
`
}

async function untilReady(port: number): Promise<void> {
  const end = performance.now() + READY_MS_MAX
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    const isThere = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false)
    socket.destroy()
    if (isThere) return
    if (performance.now() > end) throw new Error('PgBouncer did not start')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
