import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, expect, it } from 'vitest'
import { openSink } from '../e2e/sink.ts'
import { entrust, ownFolder } from '../postgres/programs.ts'
import { startPostgres } from '../postgres/server.ts'
import { command, serve } from './cli-process.ts'
import { caller, type Serving } from './harness.ts'
import { postgresLook } from './isolation/rows.ts'

const folder = mkdtempSync(join(tmpdir(), 'wakeful-secrets-'))
const rules = ownFolder('secrets')
afterAll(() => {
  for (const each of [folder, rules]) rmSync(each, { recursive: true, force: true })
})

const MASTER = 'master-secret-that-is-long-enough-to-be-one-0123456789'
const PASSWORD = 'pg-passw0rd-Zq9'
const HEADER = 'header-secret-5f1e'
const WRONG = `wk_${'a'.repeat(16)}_${'W'.repeat(43)}`

/** What a story left behind: every secret in its answers, and every answer. */
interface Story {
  readonly secrets: string[]
  /** Answers that others may read later: all except those that return a new secret to its owner. */
  readonly answers: string[]
  readonly key: string
}

/** Creates, uses, misuses, rotates and ends keys, secrets, tokens and tickets of every kind. */
async function play(url: string, sinkUrl: string): Promise<Story> {
  const answers: string[] = []
  const recorded =
    (call: Serving['call']): Serving['call'] =>
    async (...args) => {
      const answer = await call(...args)
      answers.push(answer.text, JSON.stringify([...answer.headers]))
      return answer
    }
  const made = (await caller(url)('POST', '/v1/keys', { tenant: '*', rights: 'admin' })).json
  const as = caller(url, { authorization: `Bearer ${made.key}` })
  const secretsIn = (text: string) => text.match(/(?:wk|wf|wt|whsec)_[\w+/=-]+/g) ?? []
  const secrets = [made.key, MASTER, HEADER, WRONG]
  for (const [method, path, body] of [
    ['POST', '/v1/keys', { tenant: 'acme', owner: 'ann' }],
    ['POST', `/v1/keys`, { tenant: 'acme', rights: 'read', expires_in: '1h' }],
    ['GET', '/v1/webhooks/secret', undefined],
    ['POST', '/v1/webhooks/secret/rotate', {}],
    ['POST', '/v1/calendar', {}],
    ['POST', '/v1/tickets', {}],
  ] as const) {
    const { text, json } = await as(method, path, body)
    secrets.push(...secretsIn(text))
    if (path === '/v1/keys')
      secrets.push(...secretsIn((await as('POST', `/v1/keys/${json.id}/rotate`, { grace: '1h' })).text))
  }
  expect(secrets.length).toBeGreaterThan(10)
  const call = recorded(as)
  for (const secret of secrets) {
    const bad = recorded(caller(url, { authorization: `Bearer ${secret}` }))
    await bad('GET', '/v1/stats')
    await bad('GET', '/v1/stats', undefined, {
      authorization: `Basic ${secret}`,
      ...(/^w\w+_/.test(secret) && { 'x-request-id': secret }),
    })
    await call('GET', `/v1/stats?token=${encodeURIComponent(secret)}`)
    await call('GET', `/v1/calendar.ics?token=${encodeURIComponent(secret)}`)
    await call('GET', `/v1/events/stream?ticket=${encodeURIComponent(`${secret}x`)}`)
    await call('GET', '/v1/stats', undefined, { cookie: `session=${secret}`, 'x-api-key': secret })
  }
  const headers = { authorization: `Bearer ${HEADER}`, 'x-token': HEADER }
  const set = (webhook: string, more: object = {}) =>
    call('POST', '/v1/alarms', { delay: '0s', max_failures: 1, target: { webhook, headers }, ...more })
  const { json } = await set(`${sinkUrl}/echo`)
  await set('http://127.0.0.1:1/closed', { key: 'closed' })
  await call('PUT', '/v1/owner/target', { target: { webhook: sinkUrl, headers } })
  await set('ftp://nowhere')
  while (!/"status":"(?:failed|fired)"/.test((await call('GET', `/v1/alarms/${json.id}`)).text))
    await new Promise((resolve) => setTimeout(resolve, 50))
  for (const path of [
    `/v1/alarms/${json.id}/why`,
    '/v1/events?limit=500',
    '/v1/alarms',
    '/v1/history',
    '/v1/failed',
    '/v1/keys',
    '/v1/owner/target',
    '/v1/tenants',
    '/metrics',
    '/openapi.json',
    '/healthz',
    '/readyz',
    '/v1/nothing',
  ])
    await call('GET', path)
  await call('DELETE', '/v1/calendar')
  return { secrets: [...new Set(secrets)], answers, key: made.key }
}

/** The places that contain a secret in clear text. */
function found(secrets: readonly string[], places: Readonly<Record<string, string>>): string[] {
  return secrets.flatMap((secret) => {
    // The secret parts; the public id of a key is not secret.
    const core = secret.replace(/^(?:wk_[0-9a-f]{16}|wf|wt|whsec)_/, '')
    return Object.entries(places).flatMap(([place, text]) => {
      const at = text.indexOf(core)
      return at < 0
        ? []
        : [`${secret.slice(0, 12)}… in ${place}: ${text.slice(Math.max(0, at - 80), at + 40)}`]
    })
  })
}

const echo = () => openSink(({ headers }) => ({ status: 500, body: JSON.stringify(headers) }))

it.each(['json', 'text'])(
  'leaves none in a SQLite file, a log (%s), an export or an answer',
  { timeout: 120_000 },
  async (format) => {
    const home = mkdtempSync(join(folder, format))
    const env = { WAKEFUL_SECRET: MASTER, WAKEFUL_ALLOW_PRIVATE_TARGETS: '1', WAKEFUL_DB: 'sqlite:a.db' }
    const server = await serve(['--log-level', 'debug', '--log-format', format], env, home)
    const { secrets, answers } = await play(server.url, (await echo()).url)
    const live = files(home)
    const exported = await command(['export'], env, home)
    const config = await command(['serve', '--print-config'], env, home)
    server.child.kill('SIGTERM')
    expect(await server.ended).toBe(0)
    expect(exported).toContain('alarm')
    expect(config).toContain('secret')
    const places = {
      log: server.output(),
      exported,
      config,
      answers: answers.join('\n'),
      ...live,
      ...files(home),
    }
    expect(found(secrets, places)).toEqual([])
  },
)

it('leaves none in PostgreSQL, and never reveals its password, even when it is down', {
  timeout: 120_000,
}, async () => {
  const hba = join(rules, 'hba')
  writeFileSync(hba, 'host all postgres all trust\nhost all all all scram-sha-256\n')
  entrust(hba)
  const postgres = await startPostgres([`hba_file=${hba}`])
  const client = new pg.Client({ connectionString: postgres.url() })
  await client.connect()
  client.on('error', () => {})
  await client.query(`CREATE ROLE app LOGIN PASSWORD '${PASSWORD}'; CREATE SCHEMA wakeful AUTHORIZATION app`)
  const at = new URL(postgres.url())
  Object.assign(at, { username: 'app', password: PASSWORD })
  const home = mkdtempSync(join(folder, 'postgres'))
  const env = { WAKEFUL_SECRET: MASTER, WAKEFUL_ALLOW_PRIVATE_TARGETS: '1', WAKEFUL_DB: at.href }
  const server = await serve(['--log-level', 'debug', '--json'], env, home)
  const { secrets, answers, key } = await play(server.url, (await echo()).url)
  const dump = JSON.stringify(await postgresLook(client)())
  const exported = await command(['export'], env, home)
  const config = await command(['serve', '--print-config', '--json'], env, home)
  const wrong = await command(
    ['list'],
    { ...env, WAKEFUL_DB: at.href.replace(PASSWORD, `${PASSWORD}x`) },
    home,
  ).catch(String)
  await postgres.die()
  const gone: string[] = []
  for (const path of ['/v1/stats', '/v1/alarms', '/readyz', '/metrics'])
    gone.push((await caller(server.url, { authorization: `Bearer ${key}` })('GET', path)).text)
  expect(gone[0]).toContain('store_unavailable')
  expect(gone.join('\n')).not.toContain(String(postgres.port))
  server.child.kill('SIGTERM')
  await server.ended
  await postgres.stop()
  const places = {
    log: server.output(),
    dump,
    exported,
    config,
    wrong,
    gone: gone.join('\n'),
    answers: answers.join('\n'),
    ...files(home),
  }
  expect(found([...secrets, PASSWORD], places)).toEqual([])
})

function files(home: string): Record<string, string> {
  return Object.fromEntries(readdirSync(home).map((name) => [name, readFileSync(join(home, name), 'latin1')]))
}
