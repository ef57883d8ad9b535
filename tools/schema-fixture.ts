import { rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { systemClock } from '../src/hosts/node/system-clock.ts'
import { open } from '../src/index.ts'
import { openSqlite } from '../src/stores/sqlite/index.ts'

/**
 * A database of the present schema with something of everything in it, as SQL. Run once when a migration is added
 * (`node tools/schema-fixture.ts > src/stores/sqlite/schema/fixtures/NNNN.sql`), so that every later version can be tested
 * to open it. Never run again for an old number.
 */
const path = `fixture-${process.pid}.db`
const wakeful = await open(`sqlite:${path}`, { timezone: 'Europe/Rome' })
wakeful.handle('remind', (fire) => {
  if (fire.message === 'break') throw new Error('broken on purpose')
})
const far = new Date('2040-01-01T00:00:00Z')
await wakeful.set(far, {
  target: 'remind',
  payload: { a: 1 },
  key: 'once',
  label: 'far away',
  subject: 'order-7',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
})
await wakeful.set({ cron: '0 9 * * 1-5' }, { target: 'remind', key: 'cron', idempotencyKey: 'cron-1' })
await wakeful.set({ every: '10m' }, { target: { event: true }, key: 'every' })
const paused = await wakeful.set({ every: '1h' }, { target: 'remind', key: 'paused' })
await wakeful.pause(paused.id)
const gone = await wakeful.set(far, { target: 'remind', key: 'gone' })
await wakeful.cancel(gone.id)
await wakeful.set(new Date(0), { target: 'remind', key: 'fired' })
await wakeful.set(new Date(0), { target: 'remind', key: 'failed', message: 'break', maxFailures: 1 })
await wakeful.set(new Date(0), { target: 'remind', key: 'retrying', message: 'break' })
await wakeful.set(new Date(0), {
  target: 'remind',
  key: 'awaiting',
  ack: 'report',
  completionTimeout: '36500d',
})
await wakeful.calendars.put('holidays', { dates: { '2026-12-25': 'Christmas' }, weekend: ['sat', 'sun'] })
await wakeful.set({ cron: '0 9 * * *', exclude: 'holidays' }, { target: 'remind', key: 'holidays' })
await wakeful.set('2040-06-01 09:00', { target: 'remind', key: 'wall' })
await wakeful.tick()
await wakeful.close()
const store = await openSqlite({ path, clock: systemClock })
await store.putDocument({ kind: 'tenant', name: 'default', tenant: 'default', value: '{"paused":false}' }, 0)
const wake = {
  tenant: 'default',
  owner: '',
  alarmId: 'a',
  occurrenceId: 'a-1-0',
  arrivedAt: far.getTime(),
  body: '{}',
}
await store.putWake(wake, 1)
await store.close()
process.stdout.write(dump(path))
for (const suffix of ['', '-wal', '-shm', '-clock-app', '-clock-wakeful'])
  rmSync(path + suffix, { force: true })

function dump(file: string): string {
  const db = new DatabaseSync(file)
  const schema = db
    .prepare('SELECT name, type, sql FROM sqlite_schema WHERE sql IS NOT NULL')
    .all() as unknown as Row[]
  const tables = schema.filter((row) => row.type === 'table' && row.name.startsWith('wakeful'))
  const indexes = schema.filter((row) => row.type === 'index')
  const rows = tables.flatMap(({ name }) => {
    const all = db.prepare(`SELECT * FROM ${name}`).all()
    return all.map((row) => `INSERT INTO ${name} VALUES (${Object.values(row).map(literal).join(', ')})`)
  })
  db.close()
  return [...tables.map((row) => row.sql), ...rows, ...indexes.map((row) => row.sql)]
    .map((text) => `${text};\n`)
    .join('')
}

interface Row {
  name: string
  type: string
  sql: string
}

function literal(value: unknown): string {
  if (value === null) return 'NULL'
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)
}
