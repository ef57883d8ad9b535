import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, expect, it } from 'vitest'
import { testDatabase } from '../../test/postgres/database.ts'
import { serve } from '../../test/server/cli-process.ts'
import { systemClock } from '../hosts/node/index.ts'
import { run } from './run.ts'

const { url: db, client } = testDatabase()
const dir = mkdtempSync(join(tmpdir(), 'wakeful-cli-postgres-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

async function wakeful(args: readonly string[], env: Record<string, string> = { WAKEFUL_DB: db }) {
  const output = { stdout: '', stderr: '' }
  const sink = (name: 'stdout' | 'stderr') => ({
    write(text: string, done?: () => void) {
      output[name] += text
      done?.()
    },
  })
  const terminal = {
    stdout: sink('stdout'),
    stderr: sink('stderr'),
    stdin: Readable.from(['']),
    env: { NO_COLOR: '1', ...env },
    pid: 1,
    now: () => systemClock.now(),
    monotonic: () => systemClock.monotonic(),
    onSignal: () => () => {},
    exit: () => {},
  }
  const code = await run(args, { terminal, version: '1', invocation: 'wakeful', exitCode: 0 })
  return { ...output, code }
}

it('moves a store from SQLite to PostgreSQL and back with a file', async () => {
  const [from, back] = [join(dir, 'from.db'), join(dir, 'back.db')]
  const [there, again] = [join(dir, 'there.jsonl'), join(dir, 'again.jsonl')]
  await wakeful(['set', '--delay', '1h', '--payload', '{"n":9007199254740993}', '--db', from])
  await wakeful(['export', '--out', there, '--db', from])
  expect(await wakeful(['import', there])).toMatchObject({ code: 0, stdout: '1 alarm imported\n' })
  expect(await wakeful(['import', there])).toMatchObject({ code: 0, stdout: /1 existed already/ })
  await wakeful(['export', '--out', again])
  expect(await wakeful(['import', again, '--db', back])).toMatchObject({
    code: 0,
    stdout: '1 alarm imported\n',
  })
  const { stdout } = await wakeful(['list', '--json', '--db', back])
  expect(stdout).toContain('9007199254740993')
})

it('checks a store, as text and as JSON, and exits with 1 if something is wrong', async () => {
  await wakeful(['set', '--delay', '1h'])
  const { code, stdout } = await wakeful(['doctor'])
  expect(code).toBe(1)
  expect(stdout).toMatch(/^ok {4}server: PostgreSQL \d+/m)
  expect(stdout).toMatch(/^FAIL {2}pool cli: no process serves it, \d+ pending\n {6}start a process/m)
  await wakeful(['reset', '--yes'])
  const output = await wakeful(['doctor', '--json'])
  expect(JSON.parse(output.stdout)).toMatchObject({ ok: true })
  expect(output.code).toBe(0)
})

it('prints the SQL of the schema, and migrates only once', async () => {
  const at = `${db}?schema=printed`
  const { stdout, code } = await wakeful(['migrate', '--sql', '--db', at])
  expect(code).toBe(0)
  await client.query(stdout)
  await wakeful(['set', '--delay', '1h', '--db', at])
  await client.query(stdout).catch(() => client.query('ROLLBACK'))
  expect(JSON.parse((await wakeful(['stats', '--json', '--db', at])).stdout)).toMatchObject({ total: 1 })
  expect((await wakeful(['migrate', '--sql', '--db', at])).stdout).toBe('-- the schema is up to date\n')
})

it('reads nothing without a store, and creates none', async () => {
  const at = `${db}?schema=nobody`
  const { code, stdout, stderr } = await wakeful(['list', '--json', '--db', at])
  expect({ code, out: JSON.parse(stdout) }).toEqual({ code: 0, out: { items: [], next_cursor: null } })
  expect(stderr).toMatch(/there is no store at schema nobody of 127/)
  expect(await wakeful(['get', 'x', '--db', at])).toMatchObject({ code: 1 })
  const { rows } = await client.query(`SELECT 1 FROM pg_namespace WHERE nspname = 'nobody'`)
  expect(rows).toEqual([])
})

it('never prints a password, whatever is wrong with the URL', async () => {
  const wrong = ['Postgres://w:s3cret@127.0.0.1:1/x', 'postgre://w:s3cret@host/x', 'mysql://w:s3cret@host/x']
  for (const at of wrong) {
    const { code, stderr } = await wakeful(['list', '--db', at])
    expect(code).toBeGreaterThan(0)
    expect(stderr).not.toContain('s3cret')
  }
})

it('rejects commands for SQLite only, and says what to use', async () => {
  expect(await wakeful(['backup', join(dir, 'copy.db')])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('pg_dump'),
  })
  expect(await wakeful(['bench', '--db', db])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--dir'),
  })
  expect(await wakeful(['export', '--db', `${db}?schema=nowhere`])).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('There is no store at schema nowhere'),
  })
})

it('serves next to another process, and prints how many shards run here', {
  timeout: 120_000,
}, async () => {
  const output = async (server: { output(): string }, what: RegExp) => {
    while (!what.test(server.output())) await new Promise((resolve) => setTimeout(resolve, 50))
  }
  // Where nobody has set anything yet.
  const fresh = `${db}?schema=beside`
  const first = await serve([], { WAKEFUL_DB: fresh }, dir)
  await output(first, /alarms fire here\n/)
  await output(first, /, with the store in WAKEFUL_DB:\n {2}\S.* set 'in 10 seconds' --message hello\n/)
  const secret = fresh.replace('postgres@', 'postgres:hunter2@')
  const second = await serve(['--db', secret], {}, dir)
  await output(second, /64 of 128 shards run here, the others in other processes\n/)
  await output(first, /64 of 128 shards run here/)
  expect(second.output()).not.toMatch(/standing by|took over|hunter2|hello --db/)
  first.child.kill('SIGTERM')
  await output(second, /took over: alarms fire here now/)
  second.child.kill('SIGTERM')
  expect([await first.ended, await second.ended]).toEqual([0, 0])
})
