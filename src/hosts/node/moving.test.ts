import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testDatabase } from '../../../test/postgres/database.ts'
import { open, rawJson, type SetOptions, type Wakeful, type When } from '../../index.ts'
import { openSqlite } from '../../stores/sqlite/index.ts'
import { openTest } from '../../testing/index.ts'
import { exportLines, importLines } from './index.ts'
import { systemClock } from './system-clock.ts'

const { url: postgres, client } = testDatabase()
const dir = mkdtempSync(join(tmpdir(), 'wakeful-moving-'))
afterAll(() => rmSync(dir, { recursive: true }))

const file = (name: string) => `sqlite:${join(dir, name)}`
const schema = (name: string) => `${postgres}?schema=${name}`

/** The alarms were set in a future of the tests' own: it is no matter here what the time is. */
const LATER = { trustClock: true }
const ALARMS = 2_000
const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const PAYLOAD = '{"id":9007199254740993,"count":123456789012345678901234567890,"é":[1.0,1e2,null,"\\u0000"]}'

async function* linesOf(texts: readonly string[]) {
  yield* texts
}

const exported = (from: string) => Array.fromAsync(exportLines(from))
const imported = (to: string, texts: readonly string[]) => importLines(to, linesOf(texts))
const withoutDate = (texts: readonly string[]) =>
  texts.map((text) => text.replace(/"exported_at":"[^"]*"/, ''))

/** Alarms of every kind, in every state there is, with what happened to them. */
async function fill(wakeful: Wakeful): Promise<void> {
  await wakeful.calendars.put('holidays', { dates: { '2030-12-25': 'Christmas' }, weekend: ['fri', 'sat'] })
  const kinds: readonly (readonly [When, SetOptions])[] = [
    ['in 1 hour', { target: 'x', payload: rawJson(PAYLOAD), message: 'day\n"one" 🎉' }],
    [
      { cron: '0 9 * * 1-5', timezone: 'Europe/Rome' },
      { target: 'x', label: 'nine', traceparent: TRACEPARENT },
    ],
    [{ rrule: 'FREQ=MONTHLY;BYDAY=-1FR', timezone: 'America/New_York' }, { target: { event: true } }],
    [
      { every: '90s', count: 10 },
      { target: 'x', overlap: 'queue', priority: 7 },
    ],
    [{ cron: '0 9 * * *', exclude: { calendars: 'holidays', move: 'next' } }, { target: 'x' }],
    [{ delay: '1s' }, { target: 'fails', maxFailures: 2, onFailure: { event: true } }],
    [{ delay: '1s' }, { target: 'x', ack: 'report' }],
    [{ delay: '1s' }, { target: { event: true } }],
    [{ delay: '2s' }, { target: 'nobody' }],
  ]
  for (let i = 0; i < ALARMS; i += 500) {
    const many = Array.from({ length: 500 }, (_, j) => {
      const [when, options] = kinds[(i + j) % kinds.length]!
      return { when, ...options, subject: `s${j % 7}`, key: `k${i + j}`, idempotencyKey: `i${i + j}` }
    })
    await wakeful.setMany(many)
  }
  // One that was set again remembers its first idempotency key.
  await wakeful.set('in 2 hours', { target: 'x', key: 'k0', idempotencyKey: 'second' })
  for (const key of ['k9', 'k18']) await wakeful.cancel((await wakeful.getByKey(key))!.id)
  for (const key of ['k1', 'k3']) await wakeful.pause((await wakeful.getByKey(key))!.id)
  await wakeful.forTenant('other', 'somebody').set('in 1 day', { target: 'x', key: 'k0' })
}

/** What a server keeps beside the alarms. */
async function keep(path: string): Promise<void> {
  const store = await openSqlite({ path, clock: systemClock })
  for (const name of ['b', 'é', 'A'])
    await store.putDocument({ kind: 'key', name, tenant: 'default', value: `{"snake_case":"${name}"}` }, 7)
  await store.putDocument({ kind: 'Tenant', name: 'other', tenant: 'other', value: PAYLOAD }, 8)
  const scope = { tenant: 'other', owner: 'somebody' }
  for (const occurrenceId of ['one', 'two'])
    await store.putWake({ ...scope, occurrenceId, alarmId: 'a', arrivedAt: 9, body: PAYLOAD }, 9)
  await store.claimWakes(scope, { now: 10, holdMs: 1e12, limit: 1 })
  await store.close()
}

let texts: readonly string[]

beforeAll(async () => {
  const { wakeful, clock, close } = await openTest({ store: file('from.db') })
  wakeful.handle('x', () => {})
  wakeful.handle('fails', () => {
    throw new Error('no')
  })
  await fill(wakeful)
  await wakeful.start()
  await clock.advance('3s')
  await close()
  await keep(join(dir, 'from.db'))
  texts = await exported(file('from.db'))
}, 240_000)

describe('moving between SQLite and PostgreSQL', () => {
  it('carries everything over and back, line for line', async () => {
    expect(texts.filter((text) => text.startsWith('{"alarm"')).length).toBeGreaterThan(ALARMS)
    expect(texts.filter((text) => text.startsWith('{"event"')).length).toBeGreaterThan(ALARMS / 3)
    expect(texts.filter((text) => text.startsWith('{"document"')).length).toBe(5)
    expect(texts.filter((text) => text.startsWith('{"wake"')).length).toBe(2)
    const seen: number[] = []
    const came = await importLines(schema('there'), linesOf(texts), undefined, (done) => seen.push(done))
    expect(came).toEqual({ imported: texts.length - 2, known: 0 })
    expect(seen.length).toBeGreaterThan(3)
    const there = await exported(schema('there'))
    expect(withoutDate(there)).toEqual(withoutDate(texts))
    await imported(file('back.db'), there)
    expect(withoutDate(await exported(file('back.db')))).toEqual(withoutDate(texts))
  }, 240_000)

  it('changes nothing when it is repeated, also by two at once', async () => {
    const [one, two] = await Promise.all([imported(schema('twice'), texts), imported(schema('twice'), texts)])
    expect(one.imported + two.imported).toBe(texts.length - 2)
    expect(await imported(schema('twice'), texts)).toEqual({ imported: 0, known: texts.length - 2 })
    expect(withoutDate(await exported(schema('twice')))).toEqual(withoutDate(texts))
  }, 240_000)

  it('goes on where it broke off', async () => {
    const cut = texts.slice(0, Math.floor(texts.length * 0.6))
    await expect(imported(schema('cut'), cut)).rejects.toMatchObject({ message: /breaks off/ })
    const rest = await imported(schema('cut'), texts)
    expect(rest.known).toBe(cut.length - 1)
    expect(rest.imported).toBe(texts.length - cut.length - 1)
    expect(withoutDate(await exported(schema('cut')))).toEqual(withoutDate(texts))
  }, 240_000)

  it('keeps payloads, figures, keys and former idempotency keys', async () => {
    await imported(schema('kept'), texts)
    const [from, to] = [await open(file('from.db'), LATER), await open(schema('kept'), LATER)]
    expect(await to.stats()).toEqual(await from.stats())
    const [a, b] = [await from.getByKey('k0'), await to.getByKey('k0')]
    expect(b).toEqual(a)
    expect((await to.getByKey('k9'))?.payloadJson).toBe(PAYLOAD)
    const again = await to.set('in 5 hours', { target: 'x', idempotencyKey: 'i0' })
    expect(again.id).toBe(b?.id)
    await from.close()
    await to.close()
  }, 240_000)

  it('is of one moment, whatever is set meanwhile', async () => {
    const wakeful = await open(schema('busy'))
    const setSome = (n: number) =>
      wakeful.setMany(Array.from({ length: n }, () => ({ when: 'in 1 hour', target: 'x' })))
    await setSome(700)
    const lines: string[] = []
    for await (const line of exportLines(schema('busy'))) {
      if (lines.length % 200 === 0) await setSome(10)
      lines.push(line)
    }
    expect(JSON.parse(lines[0]!)).toMatchObject({ alarms: 700 })
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ end: true, alarms: 700 })
    await wakeful.close()
  }, 240_000)

  it('has what depends on calendars and zones computed again by the process that runs the clock', async () => {
    await imported(schema('recompute'), texts)
    const { rows } = await client.query(`SELECT name, reviewed_version, (SELECT value FROM recompute.meta
      WHERE name = 'zone_data') AS zones FROM recompute.calendars`)
    expect(rows).toEqual([{ name: 'holidays', reviewed_version: '0', zones: 'imported' }])
  }, 240_000)
})

describe.each([
  ['SQLite', file],
  ['PostgreSQL', schema],
])('a key that is another alarm’s in %s', (_, place) => {
  const head = () => texts[0]!
  const alarmOf = (key: string) => texts.find((text) => text.includes(`"key":"${key}"`))!
  const end = JSON.stringify({ end: true, alarms: 1, events: 0, documents: 0, wakes: 0 })
  const idIn = (text: string) => (JSON.parse(text) as { alarm: { id: string } }).alarm.id

  it('is given up by the one that has ended here', async () => {
    const wakeful = await open(place('gives'), LATER)
    const { id } = await wakeful.set('in 1 hour', { target: 'x', key: 'k0' })
    const moving = imported(place('gives'), [head(), alarmOf('k0'), end])
    await expect(moving).rejects.toMatchObject({ code: 'conflict', message: /cancel it and import again/ })
    await wakeful.cancel(id)
    expect(await imported(place('gives'), [head(), alarmOf('k0'), end])).toEqual({ imported: 1, known: 0 })
    expect((await wakeful.getByKey('k0'))?.id).toBe(idIn(alarmOf('k0')))
    expect(await wakeful.get(id)).toMatchObject({ status: 'cancelled', key: null })
    await wakeful.close()
  })

  it('is given up by the one that had ended where it came from', async () => {
    const wakeful = await open(place('keeps'), LATER)
    const { id } = await wakeful.set('in 1 hour', { target: 'x', key: 'k9' })
    await imported(place('keeps'), [head(), alarmOf('k9'), end])
    expect((await wakeful.getByKey('k9'))?.id).toBe(id)
    expect(await wakeful.get(idIn(alarmOf('k9')))).toMatchObject({ status: 'cancelled', key: null })
    await wakeful.close()
  })

  it('stays refused where it is an idempotency key, with what would help', async () => {
    const wakeful = await open(place('once'), LATER)
    await wakeful.set('in 1 hour', { target: 'x', idempotencyKey: 'i0' })
    await wakeful.close()
    const moving = imported(place('once'), [head(), alarmOf('k0'), end])
    await expect(moving).rejects.toMatchObject({ code: 'conflict', message: /into another store/ })
  })
})

describe('an import into PostgreSQL', () => {
  const alarmOf = (key: string) => texts.find((text) => text.includes(`"key":"${key}"`))!
  const end = (alarms: number) => JSON.stringify({ end: true, alarms, events: 0, documents: 0, wakes: 0 })

  it('says which alarm holds a name already, and writes nothing of that batch', async () => {
    const wakeful = await open(schema('taken'))
    await wakeful.set('in 1 hour', { target: 'x', key: 'k2' })
    await expect(imported(schema('taken'), texts)).rejects.toMatchObject({
      code: 'conflict',
      message: /"k2"/,
    })
    expect(await wakeful.getByKey('k0')).toBeNull()
    await wakeful.close()
  })

  it('refuses two alarms of one name, and an alarm that is another owner’s here', async () => {
    const head = texts[0]!
    const [one, two] = [alarmOf('k0'), alarmOf('k1').replaceAll('"k1"', '"k0"')]
    await expect(imported(schema('double'), [head, one, two, end(2)])).rejects.toMatchObject({
      code: 'conflict',
      message: /key "k0"/,
    })
    await imported(schema('double'), [head, one, end(1)])
    const stolen = one.replace('"tenant":"default"', '"tenant":"thief"')
    await expect(imported(schema('double'), [head, stolen, end(1)])).rejects.toMatchObject({
      code: 'conflict',
      message: /another owner/,
    })
  })

  it('refuses what names a calendar or an alarm that did not come', async () => {
    const bare = texts.filter((text) => !text.startsWith('{"calendar"'))
    await expect(imported(schema('bare'), bare)).rejects.toMatchObject({ message: /the calendar holidays/ })
    const events = texts.filter((text) => !text.startsWith('{"alarm"'))
    await expect(imported(schema('bare'), events)).rejects.toMatchObject({ message: /is of alarm/ })
  })

  it.each([
    [3, /older than 4/],
    [6, /newer than 5/],
  ])('refuses version %i of the format', async (version, message) => {
    const head = texts[0]!.replace(/"version":\d+/, `"version":${version}`)
    await expect(imported(schema('other_format'), [head, alarmOf('k0'), end(1)])).rejects.toMatchObject({
      message,
    })
  })

  it('is of a store that is there: an export makes none', async () => {
    await expect(exported(schema('nowhere'))).rejects.toMatchObject({ code: 'not_found' })
    const { rowCount } = await client.query(`SELECT 1 FROM pg_namespace WHERE nspname = 'nowhere'`)
    expect(rowCount).toBe(0)
  })

  it('tells of a damaged row and saves the others', async () => {
    await imported(schema('damaged'), texts)
    await client.query(`UPDATE damaged.alarms SET rule = 'nonsense' WHERE key = 'k1'`)
    const saved = await exported(schema('damaged'))
    expect(saved.filter((text) => text.includes('"damaged"'))).toHaveLength(1)
    expect(saved).toHaveLength(texts.length)
  }, 240_000)
})

describe('an export of the last version before the first schema', () => {
  const old = readFileSync(new URL('fixtures/export-4.jsonl', import.meta.url), 'utf8')
    .trim()
    .split('\n')

  it.each([
    ['SQLite', file('unreleased.db')],
    ['PostgreSQL', schema('unreleased')],
  ])('is imported whole into %s, and fires', async (_, to) => {
    expect(await imported(to, old)).toEqual({ imported: old.length - 2, known: 0 })
    const now = old.map((text) =>
      text
        .replace('"version":4', '"version":5')
        .replace('"hold"', '"operator_pause"')
        .replace('"switchboard"', '"pauses"'),
    )
    // Fields that were added since are there, too, and the order of fields is another one.
    const parsed = (lines: readonly string[]) => lines.slice(1).map((text) => JSON.parse(text))
    expect(parsed(await exported(to))).toMatchObject(parsed(now))
    const wakeful = await open(to)
    const keys = ['once', 'cron', 'paused', 'gone', 'fired', 'failed', 'retrying', 'awaiting', 'wall']
    const statuses = await Promise.all(keys.map(async (key) => (await wakeful.getByKey(key))?.status))
    expect(statuses.join()).toBe('active,active,paused,cancelled,fired,failed,active,fired,active')
    const fired: string[] = []
    wakeful.handle('remind', (fire) => void fired.push(fire.alarm.key ?? ''))
    wakeful.handle('nobody', (fire) => void fired.push(fire.alarm.key ?? ''))
    await wakeful.tick()
    expect(fired).toEqual(expect.arrayContaining(['retrying', 'without-handler']))
    await wakeful.close()
  })
})
