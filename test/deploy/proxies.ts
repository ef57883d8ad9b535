import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { entrust, folderOf, freePort, type Needed, ownFolder, unprivileged } from '../postgres/programs.ts'

const GUIDE = 'docs/guides/operations.md'
const READY_MS_MAX = 60_000
const ADVICE =
  'these tests need the real proxies: install them (Debian: apt-get install -y haproxy nginx) or put haproxy and nginx in PATH'
const FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin', '/opt/homebrew/bin']
/** Stops it when its standard input is closed, even if the tests are killed. */
const UNTIL_ALONE = '"$@" & proxy=$!; cat > /dev/null; kill -TERM $proxy; wait $proxy'

/** A proxy before some nodes, with the configuration of the guide. */
export interface ProxyServer {
  readonly url: string
  /** What it wrote to stderr. */
  errors(): string
  stop(): Promise<void>
}

/** HAProxy with the guide's configuration, before these ports; its health checks as often as `inter` says, and patient. */
export async function startHaproxy(ports: readonly number[], inter: string): Promise<ProxyServer> {
  const program = programOf('haproxy')
  const port = await freePort()
  const text = withPorts(blockOf('haproxy'), ports)
    .replace('bind :8080', `bind 127.0.0.1:${port}`)
    .replace('inter 1s', `inter ${inter}`)
    .replace('timeout check 5s', 'timeout check 60s')
  return start('haproxy', port, text, (file) => [program, '-db', '-f', file])
}

/** nginx with the guide's configuration, before these ports. */
export async function startNginx(ports: readonly number[]): Promise<ProxyServer> {
  const program = programOf('nginx')
  const port = await freePort()
  const http = withPorts(blockOf('nginx'), ports).replace('listen 8080', `listen 127.0.0.1:${port}`)
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${name};`,
  )
  const text = `daemon off;
pid nginx.pid;
error_log stderr warn;
events {}
http {
  access_log off;
  ${places.join('\n  ')}
${http}
}
`
  return start('nginx', port, text, (file, folder) => [program, '-p', folder, '-c', file, '-e', 'stderr'])
}

/** The block of the guide in this language: what its readers copy is what is tested. */
function blockOf(language: string): string {
  const found = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'ms').exec(readFileSync(GUIDE, 'utf8'))
  if (found === null) throw new Error(`${GUIDE} has no block in ${language}`)
  return found[1]!
}

/** The block with these nodes instead of its own: as many of its lines as there are ports. */
function withPorts(block: string, ports: readonly number[]): string {
  let at = 0
  return block.replace(/^ *server .*\b10\.0\.0\.\d+:7420.*\n/gm, (line) => {
    const port = ports[at++]
    return port === undefined ? '' : line.replace(/10\.0\.0\.\d+:7420/, `127.0.0.1:${port}`)
  })
}

function programOf(name: string): string {
  const needed: Needed = { programs: [name], folders: FOLDERS, package: name, advice: ADVICE }
  return join(folderOf(needed), name)
}

async function start(
  name: string,
  port: number,
  configuration: string,
  commandOf: (file: string, folder: string) => readonly string[],
): Promise<ProxyServer> {
  const folder = ownFolder(name)
  const file = join(folder, `${name}.conf`)
  writeFileSync(file, configuration)
  entrust(file)
  const child = spawn('/bin/sh', ['-c', UNTIL_ALONE, 'sh', ...commandOf(file, folder)], {
    ...unprivileged(),
    cwd: folder,
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  let errors = ''
  child.stderr.on('data', (piece: Buffer) => {
    errors += piece
  })
  const url = `http://127.0.0.1:${port}`
  await untilAnswering(url, child, () => errors)
  return {
    url,
    errors: () => errors,
    async stop() {
      const exited = once(child, 'exit')
      child.stdin.end()
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function untilAnswering(url: string, child: ChildProcess, errors: () => string): Promise<void> {
  const end = performance.now() + READY_MS_MAX
  for (;;) {
    const status = await fetch(`${url}/readyz`).then(
      (response) => response.status,
      () => 0,
    )
    if (status === 200) return
    if (child.exitCode !== null || performance.now() > end)
      throw new Error(`the proxy does not pass on requests (${status}): ${errors()}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
