import { existsSync, linkSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../hosts/node/index.ts'
import { run } from './run.ts'

let dir: string
let db: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'wakeful-run-'))
  db = join(dir, 'alarms.db')
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** Runs a command in this process, on a store of its own. */
async function wakeful(args: readonly string[], input = '', columns: number | null = null) {
  const output = { stdout: '', stderr: '' }
  const sink = (name: 'stdout' | 'stderr') => ({
    write(text: string, done?: () => void) {
      output[name] += text
      done?.()
    },
  })
  const terminal = {
    stdout: { ...sink('stdout'), ...(columns !== null && { isTTY: true, columns }) },
    stderr: sink('stderr'),
    stdin: Readable.from([input]),
    env: { WAKEFUL_DB: db, NO_COLOR: '1' },
    pid: 1,
    now: () => systemClock.now(),
    monotonic: () => systemClock.monotonic(),
    onSignal: () => () => {},
    exit: () => {},
  }
  const code = await run(args, {
    terminal,
    version: '1.2.3',
    invocation: 'wakeful',
    exitCode: 0,
  })
  return { ...output, code }
}

async function json(args: readonly string[]) {
  const { stdout, stderr, code } = await wakeful([...args, '--json'])
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
  return JSON.parse(stdout)
}

describe('bad usage', () => {
  it.each([
    [['set'], /The time is missing/],
    [['set', 'florp'], /'florp' is not a time/],
    [['set', 'in 5 minutes', '--payload', '{oops'], /^error: --payload is not JSON: /],
    [['set', 'in 5 minutes', '--timezone', 'Mars/Olympus'], /not a known time zone/],
    [['set', 'in 5 minutes', '--ack', 'maybe'], /Allowed choices are delivery, report/],
    [['lst'], /unknown command 'lst' \(Did you mean list\?\)/],
    [['list', '--limit', 'many'], /whole number of at least 1/],
    [['list', '--lable', 'x'], /unknown option '--lable' \(Did you mean --label\?\)/],
    [['list', '--url', 'localhost:7420'], /http:\/\/ or https:\/\//],
    [['list', '--url', 'http://localhost:7420', '--db', 'x.db'], /Use one of them/],
    [['export', '--url', 'http://localhost:7420'], /export works on a store only/],
    [['get'], /by its id or by --key/],
    [['cancel'], /by their ids, by --subject, or by --key/],
    [['pause'], /by its id or by --key/],
    [['reschedule', 'tomorrow', '--key'], /argument missing/],
    [['pause', 'x', '--key', 'y'], /by its id or by --key/],
    [['reset'], /Add --yes/],
    [['list', '--tenant', ''], /--tenant is empty/],
    [['list', '--order', 'due', '--status', 'cancelled'], /For status cancelled, leave --order out/],
    [['cancel', 'a', 'b', '--if-updated-at', '2026-11-15T08:00Z'], /needs exactly one id/],
    [['set', 'twice a day'], /twice a day/],
    [['set', 'tomorrow', '--count', '3'], /--count belongs to recurring rules\. This WHEN fires once/],
    [['set', 'in 5 minutes', '--payload', '@nowhere.json'], /no file nowhere\.json \(not_found\)/],
    [['set', 'in 5 minutes', '--payload', '@/'], /\/ is a directory \(invalid_request\)/],
    [['import', 'nowhere.jsonl'], /there is no file nowhere\.jsonl \(not_found\)/],
    [[], /Usage: wakeful/],
  ])('%j exits with 2, says what to do, and creates no store', async (args, message) => {
    const { code, stdout, stderr } = await wakeful(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(message)
    expect(existsSync(db)).toBe(false)
  })

  it('exits with 1 if the work failed', async () => {
    await wakeful(['set', '--delay', '1h'])
    for (const args of [['get'], ['events', '--alarm'], ['why']]) {
      const { code, stdout, stderr } = await wakeful([...args, 'nope'])
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toMatch(/^error: There is no alarm nope.*\(not_found\)\n$/)
    }
  })
})

it('prints its version, and help with an example for each command', async () => {
  expect(await wakeful(['--version'])).toMatchObject({ code: 0, stdout: '1.2.3\n' })
  const { stdout } = await wakeful(['set', '--help'])
  expect(stdout).toMatch(/Global Options:[\s\S]*--db[\s\S]*Examples:\n {2}\$ wakeful set 'in 10 seconds'/)
})

it('describes the options of a command, and the values of a setting', async () => {
  const helpOf = async (...args: string[]) => (await wakeful([...args, '--help'], '', 200)).stdout
  for (const args of [
    ['serve'],
    ['keys'],
    ['keys', 'create'],
    ['calendar', 'put'],
    ['doctor'],
    ['export'],
    ['import'],
  ])
    expect([args, (await helpOf(...args)).includes('--url')]).toEqual([args, false])
  for (const args of [['list'], ['set'], ['mcp']])
    expect([args, (await helpOf(...args)).includes('--url <url>')]).toEqual([args, true])
  const serve = await helpOf('serve')
  expect(serve).toMatch(/--log-level <value> +log level \(debug, info, warn, error or silent; default info,/)
  expect(serve).toMatch(/--metrics <value> .* \(key, open or off; default key,/)
  expect(serve).toMatch(/--timezone <zone> +default zone of calls \(default: UTC\)/)
  expect(serve).toMatch(/--secret-file <value> +the file with the master secret/)
  expect(await helpOf('list')).toMatch(
    /--timezone <zone> +the time zone in which times are read and printed \(default: the system’s\)/,
  )
})

it('has help for subcommands, and for a group without a subcommand', async () => {
  const { stdout } = await wakeful(['help', 'calendar', 'put'])
  expect(stdout).toContain('Usage: wakeful calendar put')
  const alone = await wakeful(['calendar'])
  expect(alone).toMatchObject({ code: 2, stdout: '' })
  expect(alone.stderr).toContain('Usage: wakeful calendar')
  expect(alone.stderr).not.toContain('error')
})

it('has help within 80 columns, with examples that can be copied', async () => {
  const commands = [...(await wakeful(['--help'])).stdout.matchAll(/^ {2}([a-z]+) /gm)].map(
    ([, name]) => name!,
  )
  expect(commands).toContain('bench')
  for (const name of commands.filter((each) => each !== 'help')) {
    const lines = (await wakeful([name, '--help'], '', 80)).stdout.split('\n')
    expect(lines.filter((line) => line.length > 80)).toEqual([])
    const examples = lines.filter((line) => line.startsWith('  $ '))
    expect(examples.length).toBeGreaterThan(0)
    expect(examples.filter((line) => !/(?:\$|\|) wakeful [a-z]/.test(line))).toEqual([])
  }
})

describe('an alarm', () => {
  it('keeps its payload byte for byte, from an argument, a file and stdin', async () => {
    const payload = '{"big":12345678901234567890,"small":0.10}'
    const file = join(dir, 'payload.json')
    writeFileSync(file, `${payload}\n`)
    for (const source of [payload, `@${file}`, '-']) {
      const { stdout } = await wakeful(['set', '--delay', '1h', '--payload', source, '--json'], payload)
      expect(stdout).toContain(`"payload":${payload}`)
    }
    expect((await wakeful(['list', '--json'])).stdout.split(payload)).toHaveLength(4)
    const { id } = (await json(['list'])).items[0]
    expect((await wakeful(['get', id])).stdout).toContain(`payload         ${payload}\n`)
  })

  it('is set once per idempotency key', async () => {
    const args = ['set', '--every', '5m', '--event', '--idempotency-key', 'k']
    const first = await json(args)
    expect(first).toMatchObject({ kind: 'every', every: '5m', target: 'event' })
    expect(await json(args)).toMatchObject({ id: first.id, deduped: true })
    expect((await wakeful(args)).stdout).toMatch(/^already set, nothing changed: /)
  })

  it('is visible only to its tenant and owner', async () => {
    const ann = ['--tenant', 'acme', '--owner', 'ann']
    const set = await json(['set', '--delay', '1h', ...ann])
    expect(await json(['get', set.id, ...ann])).toEqual(set)
    expect(await wakeful(['get', set.id, '--tenant', 'acme'])).toMatchObject({ code: 1, stdout: '' })
  })

  it('notes that no process fires it', async () => {
    const { stdout, stderr } = await wakeful(['set', '--delay', '1h', '-m', 'hi'])
    expect(stdout).toMatch(
      /^set: \S+\n {2}fires {3}.* \(in 1h\)\n {2}target {2}printed by `wakeful serve`\n$/,
    )
    expect(stderr).toMatch(/start `wakeful serve`/)
  })

  it('is refused with the part of a target that is wrong', async () => {
    const { code, stderr } = await wakeful(['set', '--delay', '1h', '--target', '{"webhook":5}'])
    expect(code).toBe(2)
    expect(stderr).toBe('error: --target: webhook must be a string, not a number. (invalid_request)\n')
  })

  it('names the store of --db in the command to start', async () => {
    const file = join(dir, 'other one.db')
    const { stderr } = await wakeful(['set', '--delay', '1h', '--db', file])
    expect(stderr).toContain(`start \`wakeful serve --db '${file}'\``)
  })

  it('notes that no process serves its pool', async () => {
    const { stdout, stderr } = await wakeful(['set', '--delay', '1h', '--target', 'print'])
    expect(stdout).toMatch(/^ {2}target {2}print@app$/m)
    expect(stderr).toMatch(/no process serves pool app now/)
  })

  it('notes that an alarm in memory is not kept', async () => {
    const { code, stderr } = await wakeful(['set', '--delay', '1h', '--db', 'sqlite::memory:'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/the alarm is not kept\n$/) })
  })

  it('is replaced by its key', async () => {
    const args = ['set', '--delay', '1h', '--key', 'k']
    const [, id] = /^set: (\S+)/.exec((await wakeful(args)).stdout)!
    expect((await wakeful(args)).stdout).toMatch(`set again: ${id}\n`)
  })

  it('has one line of 80 columns in a list, with its whole id', async () => {
    const zone = ['--timezone', 'America/New_York']
    await wakeful(['set', '2031-05-01T09:00', '--label', 'a label that is rather long', ...zone])
    const { id } = await json(['set', '--cron', '0 9 * * *', '--target', 'remind', ...zone])
    await wakeful(['cancel', id])
    const { stdout } = await wakeful(['list', ...zone], '', 80)
    const [head, ...rows] = stdout.trimEnd().split('\n')
    expect(head).toMatch(/^ID +STATUS +WHEN \(New York\) +WHAT$/)
    expect(rows).toHaveLength(2)
    expect(rows[0]).toMatch(new RegExp(`^${id} {2}cancelled {2}\\S+ [\\d:]+ +remind@app$`))
    expect(rows[1]).toMatch(/^[0-9a-f-]{36} {2}active {5}2031-05-01 09:00 {2}a label that…$/)
    expect(Math.max(...rows.map((row) => row.length))).toBeLessThanOrEqual(80)
    // Nothing is cut where no terminal sets the width.
    expect((await wakeful(['list', ...zone])).stdout).toMatch(
      /2031-05-01 09:00:00 -04:00 .* a label that is rather long/,
    )
  })

  it('is cancelled by its subject, or with all others', async () => {
    for (const subject of ['a', 'a', 'b']) await wakeful(['set', '--delay', '1h', '--subject', subject])
    expect((await wakeful(['cancel', '--subject', 'a'])).stdout).toBe('2 cancelled\n')
    expect(await json(['reset', '--yes'])).toEqual({ cancelled: 1, firing: 0 })
  })

  it('rejects an edit of an outdated version', async () => {
    const { id, updated_at } = await json(['set', '--delay', '1h'])
    await wakeful(['pause', id])
    const late = await wakeful(['resume', id, '--if-updated-at', updated_at])
    expect(late).toMatchObject({ code: 1, stderr: expect.stringContaining('(conflict)') })
    const cancel = await wakeful(['cancel', id, '--if-updated-at', updated_at])
    expect(cancel).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('(conflict)') })
    const { updated_at: seen } = await json(['get', id])
    expect((await wakeful(['cancel', id, '--if-updated-at', seen])).stdout).toBe(`${id}: cancelled\n`)
  })
})

describe('without a store', () => {
  it('reads nothing, and creates no file', async () => {
    const { code, stdout, stderr } = await wakeful(['list', '--json'])
    expect({ code, out: JSON.parse(stdout) }).toEqual({ code: 0, out: { items: [], next_cursor: null } })
    expect(stderr).toMatch(/no store at .*alarms\.db/)
    expect(existsSync(db)).toBe(false)
  })

  it('previews and parses', async () => {
    const zone = ['--timezone', 'Europe/Rome']
    const preview = await json([
      'preview',
      '--cron',
      '30 2 * * *',
      '--from',
      '2027-03-28T00:00Z',
      '-n',
      '1',
      ...zone,
    ])
    expect(preview).toMatchObject({ timezone: 'Europe/Rome', rule: { kind: 'cron' } })
    expect(preview.instants[0].note).toMatch(/02:30 does not exist/)
    const parsed = await json(['parse', '2027-01-01T00:00Z', ...zone])
    expect(parsed).toMatchObject({
      instant: '2027-01-01T00:00:00.000Z',
      unix: 1_798_761_600,
      timezone: 'Europe/Rome',
    })
  })

  it('has nothing to export or back up', async () => {
    expect(await wakeful(['export'])).toMatchObject({ code: 1, stdout: '' })
    expect(await wakeful(['backup', join(dir, 'copy.db')])).toMatchObject({ code: 1, stdout: '' })
  })
})

describe('the whole store', () => {
  const payload = '{"big":12345678901234567890}'
  beforeEach(async () => {
    await wakeful(['set', '--delay', '1h', '--payload', payload])
  })

  it('is exported to stdout or a file, and imported from either', async () => {
    const file = join(dir, 'out.jsonl')
    const list = await wakeful(['list', '--json'])
    const { stdout } = await wakeful(['export'])
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => Object.keys(JSON.parse(line))[0]),
    ).toEqual(['wakeful', 'alarm', 'end'])
    expect(await json(['export', '--out', file])).toEqual({
      file,
      lines: 3,
      rows: { alarms: 1, events: 0, calendars: 0, documents: 0, wakes: 0 },
    })
    const copy = ['--db', join(dir, 'copy.db')]
    expect((await wakeful(['import', file, ...copy])).stdout).toBe('1 alarm imported\n')
    expect((await wakeful(['import', ...copy], stdout)).stdout).toBe(
      '1 alarm read: 0 imported, 1 existed already\n',
    )
    expect(JSON.parse((await wakeful(['import', ...copy, '--json'], stdout)).stdout)).toMatchObject({
      imported: 0,
      known: 1,
      rows: { alarms: 1, events: 0 },
    })
    expect((await wakeful(['list', '--json', ...copy])).stdout).toBe(list.stdout)
  })

  it('rejects an import that is no export, or incomplete', async () => {
    const [first, alarm] = (await wakeful(['export'])).stdout.split('\n')
    for (const input of ['junk', `${alarm}\n`, `${first}\n${alarm}\n`]) {
      const { code, stdout, stderr } = await wakeful(['import', '--db', join(dir, 'copy.db')], input)
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toMatch(/not JSON|not a Wakeful export|ends early/)
    }
  })

  it('is exported to a writable file, and never over a database', async () => {
    linkSync(db, join(dir, 'link.db'))
    const before = readdirSync(dir)
    const wrong = {
      [join(dir, 'nowhere/x')]: /There is no folder .*nowhere for x/,
      [dir]: /is a directory/,
      [db]: /is a database/,
      [join(dir, 'link.db')]: /is a database/,
    }
    for (const [file, message] of Object.entries(wrong)) {
      const { code, stderr } = await wakeful(['export', '--out', file])
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) })
      expect(stderr).toContain('(invalid_request)')
    }
    expect(readdirSync(dir)).toEqual(before)
    expect((await json(['list'])).items).toHaveLength(1)
  })

  it('is backed up, and never over a file by accident', async () => {
    const file = join(dir, 'copy.db')
    expect((await wakeful(['backup', file])).stdout).toBe(`backed up to ${file}\n`)
    expect((await wakeful(['list', '--json', '--db', file])).stdout).toContain(payload)
    expect(await wakeful(['backup', file])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--force'),
    })
    expect(await json(['backup', file, '--force'])).toEqual({ file })
    linkSync(db, join(dir, 'link.db'))
    for (const self of [db, join(dir, '.', 'alarms.db'), join(dir, 'link.db')]) {
      const { code, stderr } = await wakeful(['backup', self, '--force'])
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('is the store itself') })
    }
    const nowhere = await wakeful(['backup', join(dir, 'nowhere/x')])
    expect(nowhere).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/There is no folder .*nowhere for /),
    })
    expect((await wakeful(['list', '--json'])).stdout).toContain(payload)
  })

  it('is migrated, or its SQL is printed', async () => {
    const fresh = ['--db', join(dir, 'fresh.db')]
    expect((await wakeful(['migrate', '--sql', ...fresh])).stdout).toMatch(
      /^-- \d+ [\s\S]*CREATE TABLE wakeful_/,
    )
    expect((await wakeful(['migrate', ...fresh])).stdout).toMatch(/^migrated from version 0 to \d+\n$/)
    expect((await wakeful(['migrate', ...fresh])).stdout).toMatch(/^the schema is up to date/)
    expect((await wakeful(['migrate', '--sql', ...fresh])).stdout).toBe('-- the schema is up to date\n')
  })

  it('is checked, with exit code 1 if something is wrong', async () => {
    const { code, stdout } = await wakeful(['doctor'])
    expect(code).toBe(1)
    expect(stdout).toMatch(/^ok {4}integrity: ok$/m)
    expect(stdout).toMatch(/^FAIL {2}pool cli: no process serves it, 1 pending\n {6}start a process/m)
    await wakeful(['reset', '--yes'])
    expect(await json(['doctor'])).toMatchObject({ ok: true })
    const text = join(dir, 'notes.txt')
    writeFileSync(text, 'no database '.repeat(100))
    for (const file of [text, dir]) {
      const output = await wakeful(['doctor', '--db', file])
      expect(output).toMatchObject({ code: 1, stderr: '' })
      expect(output.stdout).toMatch(/^FAIL {2}file: .*(?:not a SQLite database|is a directory).*\n {6}\S/m)
    }
    expect(await wakeful(['migrate', '--sql', '--db', text])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('(store_unavailable)'),
    })
  })
})
