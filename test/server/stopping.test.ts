import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { startPostgres } from '../postgres/server.ts'
import { serve } from './cli-process.ts'
import { caller } from './harness.ts'
import { opened, raw } from './raw.ts'

const folder = mkdtempSync(join(tmpdir(), 'wakeful-stopping-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const home = () => mkdtempSync(join(folder, 'home-'))
const LONG = { timeout: 120_000 }
const eventually = { timeout: 60_000, interval: 50 }

const ready = async (url: string) => (await raw(url, 'GET /readyz HTTP/1.0\r\n\r\n')).status

it('after SIGTERM, fails /readyz for the lame-duck time while it answers and fires, until a second signal', {
  ...LONG,
}, async () => {
  const server = await serve(['--lame-duck', '1h'], { WAKEFUL_DB: 'sqlite:a.db' }, home())
  const call = caller(server.url)
  await expect.poll(() => ready(server.url), eventually).toBe(200)
  server.child.kill('SIGTERM')
  await expect.poll(() => ready(server.url), eventually).toBe(503)
  const set = await call('POST', '/v1/alarms', { delay: '0s', target: { event: true } })
  expect([set.status, set.headers.get('connection')]).toEqual([201, 'close'])
  const status = async () => (await call('GET', `/v1/alarms/${set.json.id}`)).json.status
  await expect.poll(status, eventually).toBe('fired')
  // Two signals within 300 ms count as one.
  await new Promise((resolve) => setTimeout(resolve, 500))
  server.child.kill('SIGTERM')
  expect(await server.ended).toBe(1)
})

it('after the lame-duck time, closes idle connections and drains', LONG, async () => {
  const args = ['--lame-duck', '1s', '--log-format', 'json']
  const server = await serve(args, { WAKEFUL_DB: 'sqlite:a.db' }, home())
  await expect.poll(() => ready(server.url), eventually).toBe(200)
  const idle = await opened(server.url)
  const ended = new Promise((resolve) => idle.once('end', resolve))
  idle.write('GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
  const answer = await new Promise<Buffer>((resolve) => idle.once('data', resolve))
  expect(answer.toString()).not.toMatch(/connection: close/i)
  server.child.kill('SIGTERM')
  await ended
  expect(await server.ended).toBe(0)
  const types = [...server.output().matchAll(/"type":"(leaving|stopping|stopped)"/g)].map(([, type]) => type)
  expect(types).toEqual(['leaving', 'stopping', 'stopped'])
})

it('ends at Ctrl-C without a lame-duck time', LONG, async () => {
  const server = await serve(['--lame-duck', '1h'], { WAKEFUL_DB: 'sqlite:a.db' }, home())
  await expect.poll(() => ready(server.url), eventually).toBe(200)
  server.child.kill('SIGINT')
  expect(await server.ended).toBe(0)
})

it('waits for a database that starts later, with a line of JSON', LONG, async () => {
  const postgres = await startPostgres()
  try {
    await postgres.die()
    const env = { WAKEFUL_DB: postgres.url(), WAKEFUL_WAIT: 'forever', WAKEFUL_LOG_FORMAT: 'json' }
    const [starting, never] = [serve([], env, home()), home()]
    await expect(serve(['--wait', '0s'], env, never)).rejects.toThrow('ended with 1')
    await expect(serve(['--wait', '1s', '--json'], env, never)).rejects.toThrow('"type":"waiting"')
    await postgres.crash()
    const server = await starting
    await expect.poll(() => ready(server.url), eventually).toBe(200)
    const [line] = server.output().split('\n')
    expect(JSON.parse(line!)).toMatchObject({
      type: 'waiting',
      level: 'warn',
      message: expect.stringContaining('ECONNREFUSED') as string,
    })
    server.child.kill('SIGTERM')
    expect(await server.ended).toBe(0)
  } finally {
    await postgres.stop()
  }
})
