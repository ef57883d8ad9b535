import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { testDatabase } from '../../../../test/postgres/database.ts'
import { systemClock } from '../../../hosts/node/index.ts'
import { open } from '../../../index.ts'
import type { Check } from '../../index.ts'
import { examinePostgres, migratePostgres } from '../index.ts'
import { SEQUENCE_RIGHTS } from './privileges.ts'

const { url, client } = testDatabase()

async function made(schema: string): Promise<string> {
  await migratePostgres(`${url}?schema=${schema}`, 0)
  return `${url}?schema=${schema}`
}

const examine = (at: string) => examinePostgres(at, systemClock)
const named = (checks: readonly Check[], name: string) => checks.find((each) => each.name === name)
const bad = (checks: readonly Check[]) => checks.filter(({ ok }) => !ok)

/** A connection of somebody else's, in the middle of a transaction. */
async function within(statement: string): Promise<void> {
  const other = new pg.Client({ connectionString: url, application_name: 'report' })
  await other.connect()
  onTestFinished(() => other.end())
  await other.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  await other.query(statement)
}

it('finds nothing wrong with a new store, and makes nothing where there is none', async () => {
  const checks = await examine(await made('fresh'))
  expect(bad(checks)).toEqual([])
  expect(checks.map(({ name }) => name)).toEqual([
    'server', 'durability', 'connections', 'schema', 'clock', 'processes', 'handlers', 'figures', 'rights', 'vacuum',
    'snapshots', 'log',
  ]) // biome-ignore format: a list
  const none = await examine(`${url}?schema=nothing`)
  expect(named(none, 'schema')).toMatchObject({ ok: false, advice: 'run `wakeful migrate`' })
})

it('reports which processes serve each pool, and what is pending in pools that none serves', async () => {
  const at = await made('clocks')
  const wakeful = await open(at)
  onTestFinished(() => wakeful.close())
  await wakeful.set('in 1 hour', { target: 'x' })
  const alone = await examine(at)
  expect(named(alone, 'pool app')).toMatchObject({
    ok: false,
    detail: 'no process serves it, 1 pending',
    advice: 'start a process that serves pool app',
  })
  await wakeful.start()
  const run = await examine(at)
  expect(bad(run)).toEqual([])
  expect(named(run, 'pool app')?.detail).toMatch(/^64 shards, served by 1 process/)
  expect(named(run, 'processes')?.detail).toBe('1 alive')
})

it('names the handlers that are missing for what is due', async () => {
  const at = await made('handlers')
  const wakeful = await open(at)
  onTestFinished(() => wakeful.close())
  const { id } = await wakeful.set('in 1 second', { target: 'invoice' })
  await wakeful.start()
  const isWaiting = async () => /registers the handler/.test((await wakeful.why(id)).next)
  await expect.poll(isWaiting, { timeout: 30_000 }).toBe(true)
  expect(named(await examine(at), 'handlers')).toMatchObject({ ok: true })
  await client.query('UPDATE handlers.timers SET scheduled_for = scheduled_for - 120000')
  expect(named(await examine(at), 'handlers')).toMatchObject({
    ok: false,
    detail: expect.stringMatching(
      /pool app has registered the handler invoice, for which alarms are due since/,
    ),
  })
})

it('reports what is overdue, and processes whose lease has ended', async () => {
  const at = await made('dead')
  const wakeful = await open(at)
  await wakeful.set(new Date(0), { target: 'x' })
  await wakeful.close()
  await client.query(`INSERT INTO dead.processes VALUES ('box:1', '{app}', 1000, 1, 0)`)
  await client.query(`UPDATE dead.shards SET holder = 'box:1'`)
  const checks = await examine(at)
  expect(named(checks, 'lag of pool app')).toMatchObject({ ok: false })
  expect(named(checks, 'pool app')).toMatchObject({ ok: false })
  expect(named(checks, 'processes')).toMatchObject({
    ok: false,
    detail: expect.stringMatching(/^0 alive; dead: box:1 \(lease ended .* ago\)$/),
  })
})

it('reports how far this host’s clock is from the database’s', async () => {
  const at = await made('skewed')
  const ahead = { ...systemClock, now: () => systemClock.now() + 3_600_000 }
  const checks = await examinePostgres(at, ahead)
  expect(named(checks, 'clock')).toMatchObject({
    ok: false,
    detail: expect.stringMatching(/^this host is (?:1h|59m|1h .*) ahead of the database/),
  })
})

it('names what is missing from the schema, and a newer one that this version cannot use', async () => {
  const at = await made('thinned')
  await client.query('DROP INDEX thinned.timers_due')
  expect(named(await examine(at), 'schema')).toMatchObject({
    ok: false,
    detail: expect.stringContaining('; timers_due is missing'),
  })
  await client.query('DROP TABLE thinned.timers')
  const torn = await examine(at)
  expect(named(torn, 'schema')?.detail.match(/timers_due is missing/g)).toHaveLength(1)
  expect(named(torn, 'vacuum')).toMatchObject({ ok: false, detail: 'timers is missing' })
  await client.query(`INSERT INTO thinned.migrations VALUES (99, 'tomorrow', true, 0)`)
  expect(named(await examine(at), 'schema')).toMatchObject({ ok: false, advice: 'upgrade Wakeful' })
})

describe('the rights of a role', () => {
  const ROLE = 'half_trusted'
  const as = new URL(`${url}?schema=rightless`)
  as.username = ROLE
  const grant = (what: string) => client.query(`GRANT ${what} TO ${ROLE}`)

  beforeAll(async () => {
    await made('rightless')
    await client.query(`CREATE ROLE ${ROLE} LOGIN`)
  })
  afterAll(async () => {
    await client.query(`DROP OWNED BY ${ROLE}; DROP ROLE ${ROLE}`)
  })

  it('are named where it may read nothing, with what would grant them', async () => {
    const checks = await examine(as.href)
    expect(bad(checks)).toHaveLength(1)
    expect(named(checks, 'rights')).toMatchObject({
      detail: expect.stringMatching(
        /^missing: USAGE on schema rightless; SELECT, INSERT, UPDATE, DELETE on alarms, /,
      ),
      advice: expect.stringContaining('GRANT USAGE ON SCHEMA rightless TO half_trusted; GRANT SELECT, '),
    })
    await grant('USAGE ON SCHEMA rightless')
    const usable = await examine(as.href)
    expect(bad(usable).map(({ name }) => name)).toEqual(['rights'])
    expect(named(usable, 'rights')?.detail).toMatch(/^missing: SELECT, INSERT, UPDATE, DELETE on alarms, /)
  })

  it('are named one by one', async () => {
    await grant('SELECT ON ALL TABLES IN SCHEMA rightless')
    const checks = await examine(as.href)
    expect(bad(checks).map(({ name }) => name)).toEqual(['rights'])
    expect(named(checks, 'rights')?.detail).toMatch(
      /^missing: INSERT, UPDATE, DELETE on alarms, .*; USAGE on alarms_seq_seq, document_versions, tally_slots; SELECT on events_seq_seq$/,
    )
  })

  it('are enough with those on the checked sequences, and not without one of them', async () => {
    await grant('SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA rightless')
    for (const [name, right] of SEQUENCE_RIGHTS) await grant(`${right} ON SEQUENCE rightless.${name}`)
    expect(bad(await examine(as.href))).toEqual([])
    const wakeful = await open(as.href)
    onTestFinished(() => wakeful.close())
    let fired = 0
    wakeful.handle('x', () => void fired++)
    await wakeful.start()
    await wakeful.set({ delay: '1ms' }, { target: 'x' })
    await expect.poll(() => fired, { timeout: 20_000 }).toBe(1)
    for (const [name, right] of SEQUENCE_RIGHTS) {
      await client.query(`REVOKE ${right} ON SEQUENCE rightless.${name} FROM ${ROLE}`)
      expect(named(await examine(as.href), 'rights')?.detail).toMatch(RegExp(`${right} on [^;]*${name}`))
    }
  })
})

it('reports a server that is read-only by default', async () => {
  const at = await made('still')
  const checks = await examine(`${at}&options=-c%20default_transaction_read_only%3Don`)
  expect(named(checks, 'server')).toMatchObject({
    ok: false,
    detail: expect.stringContaining('default_transaction_read_only is on'),
  })
})

it('reports an open snapshot, what delays the log, and dead rows', async () => {
  const at = await made('held')
  await client.query(`INSERT INTO held.timers (alarm, tenant, owner, target, shard, kind, wake_at, scheduled_for, tick,
      generation, attempt, delivered, version, edited)
    SELECT n, '', '', '', 1, 'due', n, n, 1, 1, 0, 0, 1, 0 FROM generate_series(1, 100) AS n;
    DELETE FROM held.timers`)
  await within(`INSERT INTO held.events (id, tenant, owner, type, origin, at, data)
    VALUES ('e', '', '', 'x', 'caught', 0, '{}')`)
  const strict = { deadRowsMax: 0, snapshotMsMax: -1, logWriterMsMax: -1 }
  // What was counted of a session reaches the server's figures a moment after its commit.
  await expect
    .poll(async () => bad(await examinePostgres(at, systemClock, strict)).map(({ name }) => name), {
      timeout: 30_000,
    })
    .toEqual(['vacuum', 'snapshots', 'log'])
  const checks = await examinePostgres(at, systemClock, strict)
  for (const name of ['snapshots', 'log']) expect(named(checks, name)?.detail).toContain('report, pid ')
})

it('reports a schema with tables of another program', async () => {
  await client.query('CREATE SCHEMA theirs; CREATE TABLE theirs.migrations (version text)')
  expect(named(await examine(`${url}?schema=theirs`), 'schema')).toMatchObject({
    ok: false,
    detail: expect.stringContaining('Choose another with ?schema='),
  })
})

it('reports why a server cannot be reached', async () => {
  expect(await examine('postgres://postgres@127.0.0.1:1/x')).toMatchObject([
    { name: 'server', ok: false, detail: expect.stringMatching(/cannot be reached/) },
  ])
})
