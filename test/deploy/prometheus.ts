import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { entrust, folderOf, freePort, type Needed, ownFolder, unprivileged } from '../postgres/programs.ts'

const NEEDED: Needed = {
  programs: ['prometheus', 'promtool'],
  folders: ['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'],
  package: 'prometheus',
  advice:
    'these tests need a real Prometheus: install one (Debian: apt-get install -y prometheus) or put prometheus and promtool in PATH',
}
const READY_MS_MAX = 60_000
/** Stops it when its standard input is closed, even if the tests are killed. */
const UNTIL_ALONE = '"$@" & server=$!; cat > /dev/null; kill -TERM $server; wait $server'

/** Runs `promtool` and throws its output if it fails. */
export function promtool(...args: readonly string[]): string {
  try {
    return execFileSync(join(folderOf(NEEDED), 'promtool'), args, { encoding: 'utf8', stdio: 'pipe' })
  } catch (thrown) {
    const { stdout, stderr } = thrown as { stdout: string; stderr: string }
    throw new Error(`promtool ${args.join(' ')}:\n${stdout}${stderr}`)
  }
}

/** A Prometheus for the tests, which scrapes one server with the rules and the settings of `deploy/`. */
export interface Prometheus {
  /** The answer of its API. */
  api(path: string, query?: Readonly<Record<string, string>>): Promise<unknown>
  stop(): Promise<void>
}

/** Starts one with the settings of `deploy/prometheus`, but another target and a shorter interval. */
export async function startPrometheus(target: URL, key: string): Promise<Prometheus> {
  const folder = ownFolder('prometheus')
  const keyFile = join(folder, 'wakeful.key')
  const config = readFileSync('deploy/prometheus/prometheus.yaml', 'utf8')
    .replace('/etc/prometheus/wakeful.key', keyFile)
    .replace('wakeful:7420', target.host)
    .replace('scrape_interval: 15s', 'scrape_interval: 1s')
  const files = {
    'prometheus.yaml': `global:\n  evaluation_interval: 1s\n${config}`,
    'alerts.yaml': readFileSync('deploy/prometheus/alerts.yaml', 'utf8'),
    'wakeful.key': key,
  }
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text)
    entrust(join(folder, name))
  }
  const address = `127.0.0.1:${await freePort()}`
  const flags = {
    'config.file': join(folder, 'prometheus.yaml'),
    'storage.tsdb.path': join(folder, 'data'),
    'web.listen-address': address,
  }
  const command = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
  const child = spawn(
    '/bin/sh',
    ['-c', UNTIL_ALONE, 'sh', join(folderOf(NEEDED), 'prometheus'), ...command],
    { ...unprivileged(), cwd: folder, stdio: ['pipe', 'ignore', 'ignore'] },
  )
  const url = `http://${address}`
  await untilReady(`${url}/-/ready`)
  return {
    async api(path, query = {}) {
      const response = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(query)}`)
      return response.json()
    },
    async stop() {
      const exited = once(child, 'exit')
      child.stdin.end()
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function untilReady(url: string): Promise<void> {
  const end = performance.now() + READY_MS_MAX
  for (;;) {
    const isReady = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isReady) return
    if (performance.now() > end) throw new Error('Prometheus did not get ready')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
