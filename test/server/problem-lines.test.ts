import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { logProblems } from '../../src/cli/serve/problem-lines.ts'
import { WakefulError } from '../../src/error.ts'
import type { Wakeful } from '../../src/index.ts'
import { Log } from '../../src/server/index.ts'
import { serve } from './cli-process.ts'
import { caller } from './harness.ts'

const folder = mkdtempSync(join(tmpdir(), 'wakeful-lines-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

type Line = Record<string, unknown>

/** Sets alarms of two tenants that fail, and returns the server's lines about them. */
async function failingLines(format: 'json' | 'text', count: number): Promise<string[]> {
  const home = mkdtempSync(join(folder, 'home-'))
  const env = { WAKEFUL_DB: 'sqlite:a.db', WAKEFUL_LOG_FORMAT: format }
  const server = await serve(['--allow-private-targets'], env, home)
  const call = caller(server.url)
  for (const [tenant, owner] of [
    ['acme', 'ann'],
    ['umbrella', ''],
  ] as const) {
    // Nobody listens on port 1.
    const alarm = { delay: '0s', target: { webhook: 'http://127.0.0.1:1/' }, max_failures: 1, key: 'k' }
    const headers = { 'wakeful-tenant': tenant, 'wakeful-owner': owner }
    expect((await call('POST', '/v1/alarms', alarm, headers)).status).toBe(201)
  }
  const lines = () =>
    server
      .output()
      .split('\n')
      .filter((line) =>
        format === 'json' ? line.includes('"type":"alarm.failed"') : / {2}failed, /.test(line),
      )
  await expect.poll(lines, { timeout: 60_000 }).toHaveLength(count)
  server.child.kill('SIGTERM')
  expect(await server.ended).toBe(0)
  return lines()
}

it('logs the failing alarms of every tenant, in JSON and in text with the same fields', {
  timeout: 120_000,
}, async () => {
  const lines = (await failingLines('json', 2)).map((line) => JSON.parse(line) as Line)
  const byTenant = lines.toSorted((a, b) => String(a.tenant).localeCompare(String(b.tenant)))
  expect(byTenant).toMatchObject([
    { level: 'warn', tenant: 'acme', owner: 'ann', key: 'k', attempts: 1, message: 'failed' },
    { level: 'warn', tenant: 'umbrella', owner: '', key: 'k', attempts: 1, message: 'failed' },
  ])
  expect(byTenant[0]).toMatchObject({ alarm_id: expect.any(String), error: expect.any(String) })
  const texts = (await failingLines('text', 2)).sort()
  const names = Object.keys(byTenant[0]!).filter(
    (name) => !['level', 'at', 'pid', 'type', 'message'].includes(name),
  )
  expect(names.length).toBeGreaterThan(6)
  for (const text of texts) expect(names.filter((name) => !text.includes(`, ${name} `))).toEqual([])
  expect(texts.join('\n')).toContain('tenant "acme", owner "ann"')
})

it('says how many lines were left out, and continues where it was when the store is back', async () => {
  const lines: Line[] = []
  let now = 10_000
  const log = new Log({
    level: 'info',
    format: 'json',
    write: (line) => lines.push(JSON.parse(line)),
    now: () => now,
    pid: 0,
  })
  const stop = new AbortController()
  const positions: unknown[] = []
  const page = (count: number, next: number) => ({
    items: Array.from({ length: count }, (_, at) => ({
      id: `e${next}-${at}`,
      type: 'alarm.failed',
      tenant: 'acme',
      owner: 'ann',
      alarmId: `a${at}`,
      data: { error: 'no' },
    })),
    nextCursor: `c${next}`,
  })
  async function* eventPages({ after }: { after: string }) {
    positions.push(after)
    if (positions.length === 1) {
      yield page(50, 50)
      throw new WakefulError('store.unavailable', {})
    }
    if (positions.length === 2) throw new WakefulError('store.unavailable', {})
    now += 60_000
    yield page(1, 51)
    stop.abort()
  }
  const wakeful = { allTenants: () => ({ eventPages }) } as unknown as Wakeful
  await logProblems(wakeful, { log, zone: 'UTC', now: () => now, signal: stop.signal })
  expect(positions).toEqual(['newest', 'c50', 'c50'])
  expect(lines.map(({ type, left_out }) => [type, left_out])).toEqual([
    ...Array.from({ length: 10 }, () => ['alarm.failed', undefined]),
    ['error', undefined],
    ['alarm.failed', 40],
  ])
  expect(lines.at(-1)).toMatchObject({ tenant: 'acme', owner: 'ann', error: 'no' })
})
