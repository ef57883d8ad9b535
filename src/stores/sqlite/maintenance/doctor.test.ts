import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openTest } from '../../../testing/index.ts'
import type { Check } from '../../index.ts'
import { connect } from '../connection/index.ts'
import { migrate } from '../schema/index.ts'
import { examine } from './doctor.ts'

let dir: string
let store: string
const at = (name: string) => join(dir, name)

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'wakeful-doctor-'))
  store = at('alarms.db')
  const db = connect(store)
  await migrate(db, store, 0)
  db.close()
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

function changed(sql: string): Check | undefined {
  const db = connect(store)
  db.exec(sql)
  db.close()
  return examine(store, 0).find(({ name }) => name === 'schema')
}

it('finds nothing wrong with a new store', () => {
  const checks = examine(store, 0)
  expect(checks.filter(({ ok }) => !ok)).toEqual([])
  expect(checks.map(({ name }) => name)).toEqual([
    'sqlite',
    'schema',
    'integrity',
    'handlers',
    'figures',
    'disk',
  ])
})

it('names the handlers that are missing for what is due', async () => {
  const { wakeful, clock, close } = await openTest({ store: `sqlite:${store}`, onError: () => {} })
  const handlers = () => examine(store, clock.now()).find(({ name }) => name === 'handlers')
  await wakeful.start()
  await wakeful.set('in 1 second', { target: 'invoice' })
  await clock.advance('50s')
  expect(handlers()).toMatchObject({ ok: true })
  await clock.advance('1m')
  expect(handlers()).toMatchObject({
    ok: false,
    detail: expect.stringMatching(
      /pool app has registered the handler invoice, for which alarms are due since/,
    ),
  })
  await close()
})

it('tells of calendars that end within 60 days, and lets them', () => {
  const db = connect(store)
  const insert =
    'INSERT INTO wakeful_calendars (tenant, name, version, reviewed_version, dates, weekend, updated_at)'
  for (const [tenant, name, date] of [
    ['default', 'company', '2026-12-31'],
    ['acme', 'us', '2026-01-01'],
    ['default', 'far', '2027-06-01'],
  ] as const)
    db.prepare(`${insert} VALUES (?, ?, 1, 1, ?, '[]', 0)`).run(tenant, name, `{"${date}":""}`)
  db.close()
  const checks = examine(store, Date.parse('2026-11-15T00:00:00Z'))
  expect(checks.filter(({ name }) => name.startsWith('calendar'))).toEqual([
    { name: 'calendar us of acme', ok: true, detail: expect.stringContaining('no dates after 2026-01-01') },
    { name: 'calendar company', ok: true, detail: expect.stringContaining('no dates after 2026-12-31') },
  ])
})

it('names every table and index that differs from the schema as it should be', () => {
  expect(changed('CREATE TABLE mine (a); CREATE INDEX mine_too ON wakeful_alarms (label)')).toMatchObject({
    ok: true,
  })
  expect(changed('ALTER TABLE wakeful_tallies ADD COLUMN extra INTEGER')).toMatchObject({
    ok: false,
    detail: expect.stringMatching(/; wakeful_tallies differs$/),
    advice: expect.stringContaining('wakeful export'),
  })
  const db = connect(store)
  const index = db
    .prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'index' AND name LIKE 'wakeful%' AND sql IS NOT NULL",
    )
    .get() as { name: string }
  db.close()
  const detail = changed(`DROP INDEX ${index.name}; CREATE TABLE wakeful_mine (a)`)?.detail
  expect(detail).toContain(`${index.name} is missing`)
  expect(detail).toContain('wakeful_mine is not Wakeful’s')
})

it('says what is wrong with what is no database', () => {
  writeFileSync(at('notes.txt'), 'not a database '.repeat(1000))
  expect(examine(at('notes.txt'), 0)).toEqual([
    {
      name: 'file',
      ok: false,
      detail: expect.stringMatching(/notes\.txt: the file is not a SQLite database/),
      advice: expect.stringContaining('--db'),
    },
  ])
  expect(examine(dir, 0)).toMatchObject([{ name: 'file', ok: false, detail: `${dir} is a directory` }])
})

it('tells of a damaged file what can be told', () => {
  const file = openSync(store, 'r+')
  // All but the first page, which holds the header.
  writeSync(file, Buffer.alloc(40_000, 0xa5), 0, 40_000, 4096)
  closeSync(file)
  const failed = examine(store, 0).filter(({ ok }) => !ok)
  expect(failed.length).toBeGreaterThan(0)
  for (const { detail, advice } of failed) {
    expect(detail).toMatch(/damaged|malformed|Tree|Page|page/)
    expect(advice).toContain('backup')
  }
})
