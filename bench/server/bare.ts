/**
 * The raw limits of an API: the bare framework reads a body of the same size and answers with JSON of the same size. With
 * a store, it also writes the rows of an alarm there, those of one moment together, and answers when they are on disk.
 */
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import { open } from '../../src/index.ts'

const [, , answered, path] = process.argv
const answer = JSON.parse(answered!) as object
const write = path === undefined ? () => {} : await rawStore(path)
const app = new Hono()
app.post('/v1/alarms', async (c) => {
  const { label } = (await c.req.json()) as { label: string }
  await write(label)
  return c.json({ ...answer, label }, 201)
})
const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false })
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }))
})

/** Wakeful's own tables, with all their indices and checks, and nothing else of it. */
async function rawStore(file: string): Promise<(label: string) => Promise<void>> {
  const wakeful = await open(`sqlite:${file}`)
  await wakeful.set(
    { delay: '1d' },
    { target: { event: true }, payload: { order: 4711, step: 'remind' }, label: 'x' },
  )
  await wakeful.close()
  const db = new DatabaseSync(file)
  db.exec('PRAGMA synchronous = FULL')
  const alarms = copier(db, 'wakeful_alarms', 'seq')
  const timers = copier(db, 'wakeful_timers', 'id')
  let waiting: { readonly label: string; readonly done: () => void }[] = []
  let made = 0
  const flush = () => {
    const batch = waiting
    waiting = []
    db.exec('BEGIN IMMEDIATE')
    for (const { label } of batch) {
      made += 1
      const id = `ffff${String(made).padStart(32, '0')}`
      timers({ alarm: alarms({ id, correlation_id: id, label }) })
    }
    db.exec('COMMIT')
    for (const { done } of batch) done()
  }
  return (label) =>
    new Promise((done) => {
      if (waiting.length === 0) setImmediate(flush)
      waiting.push({ label, done })
    })
}

/** Inserts copies of a table's first row; answers their numbers. */
function copier(db: DatabaseSync, table: string, serial: string) {
  const row = db.prepare(`SELECT * FROM ${table} LIMIT 1`).get() as Record<string, string | number | null>
  const columns = Object.keys(row).filter((column) => column !== serial)
  const insert = db.prepare(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  )
  return (other: Readonly<Record<string, string | number>>): number =>
    Number(insert.run(...columns.map((column) => other[column] ?? row[column]!)).lastInsertRowid)
}
