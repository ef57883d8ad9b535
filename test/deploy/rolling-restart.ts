import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../postgres/programs.ts'
import { startPostgres } from '../postgres/server.ts'
import { readOptions } from '../script-options.ts'
import { type ProxyServer, startHaproxy, startNginx } from './proxies.ts'

const USAGE = `Restarts nodes one after the other behind HAProxy and behind nginx while requests arrive, and counts those that fail.

node test/deploy/rolling-restart.ts [--nodes 3] [--requests 10000] [--lame-duck 5s] [--inter 1s]

It restarts every node, and continues until each proxy has passed on half of the requests. Exits with 1 if a request was cut.`

const LAUNCH = resolve('src/cli/launch.js')
const WORKERS = 4
const PAUSE_MS = 10
const WAIT_MS_MAX = 120_000

/** What is restarted, and under how many requests at least. */
export interface RollingRestart {
  readonly nodes: number
  readonly requests: number
  readonly lameDuck: string
  /** How often HAProxy checks a node. */
  readonly inter: string
}

/** What came of it. */
export interface RollingReport {
  /** Requests by proxy. */
  readonly requests: Readonly<Record<string, number>>
  /** Requests that failed: how, and through which proxy. */
  readonly cut: readonly string[]
  /** Alarms that were acknowledged, and those that are stored. */
  readonly acknowledged: number
  readonly stored: number
  readonly seconds: number
}

/** Restarts every node once while requests arrive through both proxies. */
export async function rollingRestart(options: RollingRestart): Promise<RollingReport> {
  const startedAt = performance.now()
  const postgres = await startPostgres()
  const folder = mkdtempSync(join(tmpdir(), 'wakeful-rolling-'))
  const env = {
    PATH: process.env.PATH!,
    WAKEFUL_DB: postgres.url(),
    WAKEFUL_SECRET: randomBytes(32).toString('hex'),
    WAKEFUL_LAME_DUCK: options.lameDuck,
    WAKEFUL_LOG_LEVEL: 'warn',
    // A node on a busy machine is slow, not down.
    WAKEFUL_READY_TIMEOUT: '50s',
  }
  const nodes: ServerNode[] = []
  const proxies: ProxyServer[] = []
  try {
    const key = await createKey(env, folder)
    for (let count = 0; count < options.nodes; count++)
      nodes.push(new ServerNode(await freePort(), env, folder, key))
    await Promise.all(nodes.map((node) => node.start()))
    const ports = nodes.map(({ port }) => port)
    const [haproxy, nginx] = [await startHaproxy(ports, options.inter), await startNginx(ports)]
    proxies.push(haproxy, nginx)
    const loads = [
      new Load('haproxy', haproxy.url, ROUTES.haproxy, key),
      new Load('nginx', nginx.url, ROUTES.nginx, key),
    ]
    const running = loads.map((load) => load.run())
    for (const node of nodes) {
      await node.untilUsed()
      await node.stop()
      await node.start()
      await node.untilUsed()
    }
    await until(() => loads.every(({ requests }) => requests >= options.requests / 2))
    for (const load of loads) load.stop()
    await Promise.all(running)
    const stats = await request(nodes[0]!.url, 'GET', '/v1/stats', key)
    return {
      requests: Object.fromEntries(loads.map(({ name, requests }) => [name, requests])),
      cut: loads.flatMap(({ cut }) => cut),
      acknowledged: loads.reduce((sum, { acknowledged }) => sum + acknowledged, 0),
      stored: (stats.json as { total: number }).total,
      seconds: Math.round((performance.now() - startedAt) / 1000),
    }
  } finally {
    for (const proxy of proxies) await proxy.stop()
    for (const node of nodes) node.kill()
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The read that each proxy passes on: a node's metrics then say which of them use it. */
const ROUTES = { haproxy: '/v1/alarms', nginx: '/v1/stats' } as const

/** `wakeful serve` on one port, started again and again. */
class ServerNode {
  readonly port: number
  readonly url: string
  readonly #env: Readonly<Record<string, string>>
  readonly #folder: string
  readonly #key: string
  #child: ChildProcess | null = null

  constructor(port: number, env: Readonly<Record<string, string>>, folder: string, key: string) {
    this.port = port
    this.url = `http://127.0.0.1:${port}`
    this.#env = env
    this.#folder = folder
    this.#key = key
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, [LAUNCH, 'serve', '--port', String(this.port)], {
      cwd: this.#folder,
      env: this.#env,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    this.#child = child
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`a node ended with ${child.exitCode}`)
      return (await request(this.url, 'GET', '/readyz', this.#key)).status === 200
    })
  }

  /** Waits until both proxies send requests here. */
  untilUsed(): Promise<void> {
    return until(async () => {
      const { text } = await request(this.url, 'GET', '/metrics', this.#key)
      return Object.values(ROUTES).every((route) =>
        new RegExp(`^wakeful_http_requests_total\\{method="GET",route="${route}",status="200"\\}`, 'm').test(
          text,
        ),
      )
    })
  }

  async stop(): Promise<void> {
    const exited = once(this.#child!, 'exit') as Promise<[number | null]>
    this.#child!.kill('SIGTERM')
    const [code] = await exited
    if (code !== 0) throw new Error(`a node ended with ${code} at SIGTERM`)
  }

  kill(): void {
    this.#child?.kill('SIGKILL')
  }
}

/** Callers that set and read alarms through one proxy. */
class Load {
  readonly name: string
  requests = 0
  acknowledged = 0
  readonly cut: string[] = []
  readonly #url: string
  readonly #route: string
  readonly #key: string
  #isOver = false

  constructor(name: string, url: string, route: string, key: string) {
    this.name = name
    this.#url = url
    this.#route = route
    this.#key = key
  }

  async run(): Promise<void> {
    await Promise.all([this.#poll(), ...Array.from({ length: WORKERS }, () => this.#work())])
  }

  stop(): void {
    this.#isOver = true
  }

  async #work(): Promise<void> {
    while (!this.#isOver) {
      const alarm = { delay: '1h', target: { event: true }, idempotency_key: randomUUID() }
      if (await this.#call('POST', '/v1/alarms', alarm)) this.acknowledged += 1
      await this.#call('GET', this.#route)
      await new Promise((wake) => setTimeout(wake, PAUSE_MS))
    }
  }

  /** A call that waits is under way when its node stops. */
  async #poll(): Promise<void> {
    while (!this.#isOver) await this.#call('GET', '/v1/inbox?wait=2s')
  }

  async #call(method: string, path: string, body?: object): Promise<boolean> {
    this.requests += 1
    const { status, text } = await request(this.#url, method, path, this.#key, body)
    if (status >= 200 && status < 300) return true
    this.cut.push(`${method} ${path} through ${this.name}: ${status} ${text.slice(0, 200)}`)
    return false
  }
}

/** A call; its status is 0 if there was no answer. */
async function request(url: string, method: string, path: string, key: string, body?: object) {
  try {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') === true
    return { status: response.status, text, json: isJson ? (JSON.parse(text) as unknown) : null }
  } catch (thrown) {
    const { message, cause } = thrown as Error
    return { status: 0, text: `${message}: ${String(cause)}`, json: null }
  }
}

async function createKey(env: Readonly<Record<string, string>>, folder: string): Promise<string> {
  const args = ['keys', 'create', '--tenant', '*', '--rights', 'admin', '--json']
  const { stdout } = await promisify(execFile)(process.execPath, [LAUNCH, ...args], { cwd: folder, env })
  return (JSON.parse(stdout) as { key: string }).key
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + WAIT_MS_MAX
  while (!(await condition())) {
    if (performance.now() > end) throw new Error('it took too long')
    await new Promise((wake) => setTimeout(wake, 50))
  }
}

if (import.meta.main) {
  const options = readOptions(USAGE, {
    nodes: { type: 'string', default: '3' },
    requests: { type: 'string', default: '10000' },
    'lame-duck': { type: 'string', default: '5s' },
    inter: { type: 'string', default: '1s' },
  })
  const report = await rollingRestart({
    nodes: Number(options.nodes),
    requests: Number(options.requests),
    lameDuck: options['lame-duck'],
    inter: options.inter,
  })
  console.log(JSON.stringify(report, null, 2))
  process.exit(report.cut.length === 0 && report.stored === report.acknowledged ? 0 : 1)
}
