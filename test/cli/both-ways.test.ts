import { describe, expect, it } from 'vitest'
import { open } from '../../src/index.ts'
import { startServer } from '../../src/server/index.ts'
import { storeFile, wakeful } from './command-line.ts'

const ZONE = ['--timezone', 'Europe/Rome']

/** A server in this process on the test's own store; its clock does not run. */
async function serving() {
  const alarms = await open(`sqlite:${storeFile()}`, { timezone: 'UTC' })
  const server = await startServer({ wakeful: alarms, host: '127.0.0.1', port: 0, version: '0' })
  return {
    url: server.url,
    async [Symbol.asyncDispose]() {
      await server.close()
      await alarms.close()
    },
  }
}

/** Replaces ids, times and the interface, which differ. Everything else must be the same. */
function alike(text: string): string {
  return text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID')
    .replace(/20(?:2|3[0-8])\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+Z| [+-]\d\d:\d\d)/g, 'TIME')
    .replace(/cursor":"\w+"/g, 'cursor":"…"')
    .replace(/created_via":"(?:rest|cli)"/g, 'created_via":"INTERFACE"')
    .replace(/\bvia (?:rest|cli)\b|\((?:rest|cli)\)/g, 'INTERFACE')
    .replace(/\bin (?:http|sqlite):\S+/g, 'in PLACE')
    .replace(/\bin \d+[wdhm]\b(?: \d+\w+)*/g, 'LATER')
    .replace(/\b(?:\d+(?:ms|s) ago|just now|now)\b/g, 'NOW')
}

/** One after the other, each on what the ones before have left; `$KEY` is the id of the alarm with that key. */
const STORY: Record<string, readonly (readonly string[])[]> = {
  'one alarm, from set to cancel': [
    ['set', '2040-05-01T09:00', '--label', 'call Ann', '-m', 'ring', '--key', 'a', '--priority', '-5'],
    ['set', '2040-05-01T10:00', '--label', 'call Ann', '-m', 'ring', '--key', 'a', '--priority', '-5'],
    ['get', '--key', 'a'],
    ['get', '$a', '--json'],
    ['list'],
    ['list', '--order', 'due', '--json'],
    ['reschedule', '--key', 'a', '2041-05-01T09:00'],
    ['reschedule', '$a', '--cron', '0 8 1 1 *', '--misfire', 'skip', '--jitter', '5m', '--json'],
    ['pause', '$a'],
    ['resume', '$a', '--json'],
    ['skip', '$a'],
    ['why', '$a'],
    ['why', '$a', '--json'],
    ['events', '--alarm', '$a'],
    ['events', '--json', '--limit', '2'],
    ['events', '--type', 'alarm.*', '--type', 'order.paid', '--since', '1h', '--subject', 'nobody'],
    ['events', '--type', 'alarm.cancelled', '--json'],
    ['events', '--type', 'alarm.resumed,alarm.paused'],
    ['events', '--since', '1h', '--until', '2h'],
    ['list', '--status', 'Scheduled'],
    ['history', '--status', 'timeout_unknown'],
    ['resume', '$a', '--if-updated-at', '2026-01-01T00:00Z'],
    ['cancel', '$a', 'none'],
    ['cancel', '$a', '--json'],
    ['retry', '$a'],
    ['stats'],
    ['stats', '--json'],
    ['history', '--status', 'cancelled'],
    ['history', '--since', '2h', '--json'],
    ['failed'],
  ],
  'a key that several owners have': [
    ['set', '2040-05-01', '--key', 'k', '--owner', 'ann'],
    ['get', '--key', 'k', '--all-owners'],
    ['set', '2040-05-02', '--key', 'k', '--owner', 'bob'],
    ['set', '2040-05-02', '--key', 'k2', '--tenant', 'acme'],
    ['get', '--key', 'k', '--all-owners'],
    ['why', '--key', 'k', '--all-tenants'],
    ['why', '--key', 'k2', '--all-tenants'],
    ['why', '--key', 'k2', '--all-owners'],
    ['events', '--key', 'k', '--all-owners', '--json'],
    ['events', '--key', 'k2', '--all-tenants', '--json'],
  ],
  'targets that no process has registered': [
    ['set', '2040-05-01', '--target', 'inboxx'],
    ['set', '2040-05-01', '--target', 'https//app.example', '--json'],
    ['set', '2040-05-01', '--target', 'inbox', '--on-failure', 'defualt'],
    ['set', '2040-05-01', '--target', 'invoice', '--key', 'i'],
    ['get', '--key', 'i', '--json'],
    ['set', '2040-05-01', '--target', '{"handler":"inboxx"}', '--json'],
  ],
  'payloads, digit for digit': [
    ['set', '2040-05-01', '--payload', '{"big":12345678901234567890,"small":0.10}', '--key', 'p', '--json'],
    ['get', '--key', 'p'],
    ['list', '--json'],
  ],
  'everything that can be output': [
    [
      'set',
      '--cron',
      '0 9 25 * *',
      '--start',
      '2040-01-01',
      '--end',
      '2041-01-01',
      '--count',
      '9',
      '--key',
      'all',
    ],
    ['reschedule', '--key', 'all', '--exclude', 'weekends', '--move', 'previous', '--misfire', 'all'],
    ['get', '--key', 'all'],
    ['set', '--rrule', 'DTSTART;TZID=Asia/Tokyo:20400101T090000\nRRULE:FREQ=WEEKLY', '--key', 'r', '--event'],
    ['set', '--cron', 'CRON_TZ=Asia/Tokyo 0 9 1 1 *', '--key', 'z', '--event'],
    [
      'set',
      '--unix',
      '2250000000',
      '--target',
      'remind',
      '--key',
      'u',
      '--ack',
      'report',
      '--overlap',
      'queue',
    ],
    ['get', '--key', 'u'],
    ['complete', '--key', 'u', 'done'],
    ['fail', '--key', 'u', 'no', '--occurrence', 'none'],
    ['fire', '--key', 'u', '--json'],
    ['set', '2040-05-01', '--idempotency-key', 'i', '--event', '--subject', 's'],
    ['set', '2040-05-01', '--idempotency-key', 'i', '--event', '--subject', 's', '--json'],
    ['list', '--q', 'nothing'],
    ['list', '--subject', 's', '--since', '2026-01-01', '--json'],
    ['list', '--limit', '1', '--json'],
    ['cancel', '--subject', 's'],
    ['reset', '--yes', '--json'],
  ],
  'many alarms at once': [
    ['set', '2040-05-01', '--key', 'a', '--subject', 's', '--label', 'l', '--event'],
    ['set', '2040-05-01', '--key', 'b', '--subject', 's', '--event'],
    ['set', '2040-05-01', '--key', 'c', '--event'],
    ['pause', '--subject', 's', '--dry-run'],
    ['pause', '--subject', 's', '--dry-run', '--json'],
    ['pause', '--subject', 's'],
    ['resume', '--subject', 's', '--label', 'l', '--json'],
    ['pause', '--all'],
    ['resume', '--all', '--json'],
    ['list', '--json'],
    ['pause', '--all', '--key', 'a'],
    ['pause', '--key', 'a', '--dry-run'],
    ['resume', '$a', '--subject', 's'],
  ],
  snoozes: [
    ['set', '2040-05-01', '--key', 'a', '--event'],
    ['snooze', '--key', 'a', '2040-06-01T09:00', '--timezone', 'Asia/Tokyo'],
    ['get', '--key', 'a'],
    ['set', '--cron', '0 9 1 5 *', '--start', '2040-05-01', '--key', 'b', '--event'],
    ['snooze', '$b', '2040-05-02T09:00', '--json'],
    ['why', '$b'],
    ['snooze', '--key', 'a', 'every day at 9am'],
    ['cancel', '--key', 'a'],
    ['snooze', '--key', 'a', '2h'],
    ['snooze', '--key', 'a'],
  ],
  'days off': [
    ['calendar', 'list'],
    ['calendar', 'put', 'company', '2040-12-24..2040-12-31', '--label', 'closed'],
    ['set', 'every day at 9am except company', '--start', '2040-12-25', '--key', 'a', '--event'],
    ['calendar', 'add', 'company', '2041-01-01', '--json'],
    ['calendar', 'get', 'company'],
    ['calendar', 'get', 'company', '--json'],
    ['calendar', 'list', '--json'],
    ['get', '--key', 'a'],
    ['calendar', 'get', 'compny'],
    ['calendar', 'put', 'Company', '2040-12-24'],
    ['calendar', 'put', 'company', '2040-13-24', '--json'],
    ['calendar', 'remove', 'none'],
    ['calendar', 'remove', 'company'],
    ['cancel', '--key', 'a'],
    ['calendar', 'remove', 'company'],
    ['calendar', 'list', '--json'],
  ],
  'what is refused, or not there': [
    ['get', 'nope'],
    ['why', 'nope'],
    ['cancel', 'nope', '--json'],
    ['pause', '--key', 'nope'],
    ['events', '--alarm', 'nope'],
    ['events', '--after', 'nonsense'],
    ['events', '--type', 'alarm.fird'],
    ['events', '--follow', '--until', '2026-01-01'],
    ['list', '--cursor', 'nonsense', '--json'],
    ['set', 'tomorrow', '--key', 'é'.repeat(300)],
    ['set', 'every day at 9am except us-holidays'],
    ['set', 'tomorrow', '--target', '{"florp":1}'],
  ],
  'what touches nothing': [
    ['preview', '--cron', '30 2 * * *', '--from', '2045-03-26', '-n', '2', '--json'],
    ['preview', '2040-05-01', '--exclude', 'us-holidays'],
    ['parse', '2040-05-01T00:00Z', '--json'],
  ],
}

describe('on the store and through a server', () => {
  it.for(Object.entries(STORY))('the same is output, and the same done: %s', async ([, commands]) => {
    const output = { store: '', server: '' }
    for (const way of ['store', 'server'] as const) {
      await using server = await serving()
      const owner = ['--tenant', 'acme', '--owner', way]
      const env = way === 'store' ? undefined : { WAKEFUL_URL: server.url }
      const ids = new Map<string, string>()
      for (const command of commands) {
        const args = command.map((word) => (word.startsWith('$') ? ids.get(word.slice(1))! : word))
        const { stdout, stderr, code } = await wakeful([...args, ...owner, ...ZONE], '', env)
        output[way] += `> ${command.join(' ')}\n${stdout}${withoutHint(stderr)}= ${code}\n`
        const key = args[args.indexOf('--key') + 1]!
        if (args[0] === 'set' && code === 0) ids.set(key, /[0-9a-f-]{36}/.exec(stdout)![0])
      }
    }
    expect(alike(output.server)).toBe(alike(output.store))
  })

  it('finds an alarm by a prefix of its id', async () => {
    await using server = await serving()
    const env = { WAKEFUL_URL: server.url }
    const { stdout } = await wakeful(['set', '2040-05-01', '--json'], '', env)
    const { id, created_via } = JSON.parse(stdout) as { id: string; created_via: string }
    expect(created_via).toBe('rest')
    const found = await wakeful(['get', id.slice(0, 13), '--json', '--url', server.url])
    expect(JSON.parse(found.stdout)).toMatchObject({ id })
  })
})

/** Through a server nobody has to be told to start one. */
function withoutHint(stderr: string): string {
  return stderr.replace(/^no process .*\n/gm, '')
}

describe('through a server', () => {
  it('follows the log', async () => {
    await using server = await serving()
    const env = { WAKEFUL_URL: server.url }
    const following = wakeful(['events', '--follow', '--limit', '1', '--json'], '', env)
    await wakeful(['set', '2040-05-01', '--key', 'a'], '', env)
    await wakeful(['pause', '--key', 'a'], '', env)
    expect(JSON.parse((await following).stdout)).toMatchObject({ type: 'alarm.paused' })
  })

  it.for([
    ['serve'],
    ['export'],
    ['import', 'x.jsonl'],
    ['backup', 'x.db'],
    ['migrate'],
    ['doctor'],
    ['keys', 'list'],
  ])('%j says that it needs the store itself', async (args) => {
    const env = { WAKEFUL_URL: 'http://127.0.0.1:1' }
    const { code, stdout, stderr } = await wakeful(args, '', env)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    const name = args[1] === 'list' ? args.join(' ') : args[0]
    expect(stderr).toMatch(`error: ${name} works on a store only, and WAKEFUL_URL names a server`)
    const flag = await wakeful([...args, '--url', 'http://127.0.0.1:1'])
    expect(flag.stderr).toMatch(`error: ${name} works on a store only, and --url names a server`)
  })

  it('names the server that does not answer, and hides the key', async () => {
    const env = { WAKEFUL_URL: 'http://127.0.0.1:1', WAKEFUL_KEY: 'wk_0123_secret' }
    const { code, stderr } = await wakeful(['set', 'tomorrow'], '', env)
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /^error: No answer from http:\/\/127\.0\.0\.1:1 .*Is the server running\? Start one with `wakeful serve`\..*\(store_unavailable\)\n$/,
      ),
    })
    expect(stderr).not.toContain('secret')
    const broken = await wakeful(['list'], '', { ...env, WAKEFUL_KEY: 'wk_0123_sec ret' })
    expect(broken.stderr).toMatch(/^error: The key in WAKEFUL_KEY is malformed/)
    expect((await wakeful(['list', '--trust-clock'], '', env)).stderr).toMatch('--trust-clock needs a store')
  })

  it('sends the key, the tenant and the owner', async () => {
    await using server = await serving()
    const env = { WAKEFUL_URL: `${server.url}/` }
    await wakeful(['set', '2040-05-01', '--owner', 'ann', '--key', 'k'], '', env)
    expect((await wakeful(['get', '--key', 'k', '--owner', 'bob'], '', env)).code).toBe(1)
    expect((await wakeful(['get', '--key', 'k', '--owner', 'ann'])).code).toBe(0)
    expect((await wakeful(['keys', 'create'])).code).toBe(0)
    const refused = async () => (await wakeful(['list'], '', env)).stderr
    // The server sees the first key within a second.
    await expect.poll(refused, { timeout: 10_000 }).toMatch('Set WAKEFUL_KEY to a key (wk_…)')
    expect((await wakeful(['list'], '', { ...env, WAKEFUL_KEY: 'wk_0_nope' })).stderr).toMatch(
      'The key in WAKEFUL_KEY is unknown',
    )
  })
})
