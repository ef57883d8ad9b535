import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'

// The real process, as users start it: what is tested here is what only a process can show.
const launcher = fileURLToPath(new URL('./launch.js', import.meta.url))
const UNKNOWN = '01900000-0000-7000-8000-000000000000'
let dir: string
const running = new Set<ChildProcess>()

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'wakeful-cli-'))
})
afterEach(() => {
  for (const child of running) child.kill('SIGKILL')
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

function start(args: readonly string[], options: SpawnOptions = {}): ChildProcess {
  const env = { ...process.env, TZ: 'Europe/Rome', NO_COLOR: '1', WAKEFUL_DB: '', WAKEFUL_URL: '' }
  const child = spawn(process.execPath, [launcher, ...args], { cwd: dir, env, ...options })
  running.add(child)
  child.on('exit', () => running.delete(child))
  return child
}

async function wakeful(args: readonly string[]) {
  const child = start(args)
  const output = { stdout: '', stderr: '' }
  child.stdout?.on('data', (chunk) => {
    output.stdout += chunk
  })
  child.stderr?.on('data', (chunk) => {
    output.stderr += chunk
  })
  child.stdin?.end()
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  return { ...output, code }
}

async function json(args: readonly string[]) {
  const { stdout, stderr, code } = await wakeful([...args, '--json'])
  expect(stderr).toBe('')
  expect(code).toBe(0)
  return JSON.parse(stdout)
}

/** Waits until the process has output something that matches, and answers all it has output. */
function saying(child: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout?.on('data', (chunk) => {
      text += chunk
      if (pattern.test(text)) resolve(text)
    })
    child.on('close', () => reject(new Error(`ended without saying ${pattern}: ${text}`)))
  })
}

describe('one alarm', () => {
  it('is set, printed, rescheduled, paused and cancelled, and has a story', async () => {
    const db = ['--db', 'one.db']
    const set = await json([
      'set',
      'tomorrow',
      'at',
      '9am',
      '--label',
      'call',
      '-m',
      'ring',
      '--priority',
      '-5',
      ...db,
    ])
    expect(set).toMatchObject({
      label: 'call',
      kind: 'once',
      status: 'active',
      timezone: 'Europe/Rome',
      wake_message: 'ring',
      target: 'print',
      created_via: 'cli',
    })
    const got = await wakeful(['get', set.id, ...db])
    expect(got.stdout).toMatch(/^next fire {2,}\d{4}-\d\d-\d\d 09:00:00 \+0[12]:00 \(in /m)
    expect((await json(['list', '--order', 'due', ...db])).items).toEqual([set])

    expect(await json(['reschedule', set.id, '--delay', '2h', ...db])).toMatchObject({
      id: set.id,
      status: 'active',
    })
    expect(await json(['pause', set.id, ...db])).toMatchObject({ status: 'paused' })
    expect((await wakeful(['resume', set.id, ...db])).stdout).toMatch(
      /^resumed: \S+ is active, fires .*\(in 2h\)\n$/,
    )

    const cancelled = await wakeful(['cancel', set.id, UNKNOWN, ...db])
    expect(cancelled).toMatchObject({ code: 1, stdout: `${set.id}: cancelled\n` })
    expect(cancelled.stderr).toBe(`error: ${UNKNOWN}: not found (not_found)\n`)
    const why = await wakeful(['why', set.id, ...db])
    expect(why.stdout).toMatch(/status {2}cancelled/)
    expect(why.stdout).toMatch(
      /set \(cli\)[\s\S]*rescheduled to[\s\S]*paused[\s\S]*resumed[\s\S]*cancelled[\s\S]*next {4}nothing/,
    )
    expect(await json(['stats', ...db])).toMatchObject({
      total: 1,
      pending: 0,
      cancelled: 1,
      timeout_unknown: 0,
    })
    expect((await json(['history', '--status', 'cancelled', ...db])).items).toHaveLength(1)
  })
})

it('exits with 2 on bad usage, and creates no file', async () => {
  const { code, stdout, stderr } = await wakeful(['set', 'florp', '--json'])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(JSON.parse(stderr).error.code).toBe('invalid_time')
  expect(existsSync(join(dir, 'wakeful.db'))).toBe(false)
})

describe('serve', () => {
  it('prints alarms without a target, and drains on SIGTERM', async () => {
    const db = ['--db', 'serve.db']
    const serve = start(['serve', ...db])
    const ended = new Promise((resolve) => serve.on('exit', (code, signal) => resolve({ code, signal })))
    expect(await saying(serve, /alarms fire here/)).toMatch(
      /set 'in 10 seconds' --message hello --db serve\.db/,
    )
    const fired = saying(serve, /fired: .*\n/)
    const set = await wakeful([
      'set',
      '--delay',
      '300ms',
      '-m',
      'hello',
      '--payload',
      '[12345678901234567890]',
      ...db,
    ])
    expect(set.stderr).toBe('')
    expect(await fired).toMatch(
      /fired: hello {2}\[12345678901234567890\] {2}\((?:\d+ms late|on time), [0-9a-f-]{36}\)/,
    )
    const stopped = saying(serve, /stopped\n/)
    serve.kill('SIGTERM')
    await stopped
    expect(await ended).toEqual({ code: 0, signal: null })
    expect(await json(['stats', ...db])).toMatchObject({ pending: 0, completed: 1 })
  })

  it('is reachable by its URL and by its file', async () => {
    const serve = start(['serve', '--port', '0', '--db', 'reached.db'])
    const [, url] = /HTTP API: (\S+)/.exec(await saying(serve, /alarms fire here/))!
    const fired = saying(serve, /fired: .*\n/)
    const set = await json(['set', '--delay', '300ms', '-m', 'hello from afar', '--url', url!])
    expect(set).toMatchObject({ timezone: 'Europe/Rome', created_via: 'rest', pool: 'cli' })
    expect(await fired).toContain('hello from afar')
    expect(await json(['history', '--url', url!])).toEqual(await json(['history', '--db', 'reached.db']))
  })

  it('stands by while another process fires the alarms, and takes over when that one ends', async () => {
    const args = ['serve', '--json', '--db', 'two.db']
    const first = start(args)
    await saying(first, /"type":"owner"/)
    const second = start(args)
    const took = saying(second, /"type":"owner"/)
    await saying(second, /"type":"standby"/)
    first.kill('SIGTERM')
    await took
    second.kill('SIGTERM')
    await saying(second, /"type":"stopped"/)
  })
})

describe('events', () => {
  it('are followed until Ctrl-C, and end without an error when the pipe is closed', async () => {
    const db = ['--db', 'events.db']
    const { id } = await json(['set', '--delay', '1h', ...db])
    const follow = start(['events', '--follow', '--json', ...db])
    const ended = new Promise((resolve) => follow.on('exit', (code) => resolve(code)))
    const first = saying(follow, /alarm\.paused.*\n/)
    await wakeful(['pause', id, ...db])
    expect(JSON.parse(await first)).toMatchObject({ type: 'alarm.paused', alarm_id: id, tenant: 'default' })
    const second = saying(follow, /alarm\.resumed/)
    await wakeful(['resume', id, ...db])
    await second
    follow.kill('SIGINT')
    expect(await ended).toBe(0)

    const closed = start(['events', ...db])
    const code = new Promise((resolve) => closed.on('close', resolve))
    closed.stdout?.destroy()
    expect(await code).toBe(0)
  })
})
