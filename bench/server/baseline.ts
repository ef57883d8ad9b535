/**
 * The raw limits of the API: the bare framework reads a body of the same size and answers with JSON of the same size. If
 * a file is given, it also writes the rows of an alarm there, the rows of concurrent requests in one commit, and answers
 * when they are on disk.
 */
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import * as sql from '../../src/stores/sqlite/sql/queries.ts'
import { BoundStatement, firstRow } from '../bound-statement.ts'

const [, , example, file] = process.argv
const answer = JSON.parse(example!) as object
const write = file === undefined ? () => {} : rawWriter(file)
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

/** Writes copies of the first alarm of a file: Wakeful's tables with all indexes and checks, and nothing else of it. */
function rawWriter(path: string): (label: string) => Promise<void> {
  const db = new DatabaseSync(path)
  db.exec('PRAGMA synchronous = FULL')
  const alarm = new BoundStatement(db, sql.insertAlarm, firstRow(db, 'wakeful_alarms'))
  const timer = new BoundStatement(db, sql.insertTimer, firstRow(db, 'wakeful_timers'))
  const [idAt, correlationIdAt, labelAt] = [
    alarm.indexOf('id'),
    alarm.indexOf('correlation_id'),
    alarm.indexOf('label'),
  ]
  const alarmAt = timer.indexOf('alarm')
  let waiting: { readonly label: string; readonly done: () => void }[] = []
  let written = 0
  const flush = () => {
    const batch = waiting
    waiting = []
    db.exec('BEGIN IMMEDIATE')
    for (const { label } of batch) {
      written += 1
      const id = `ffff${String(written).padStart(32, '0')}`
      alarm.values[idAt] = id
      alarm.values[correlationIdAt] = id
      alarm.values[labelAt] = label
      timer.values[alarmAt] = alarm.run()
      timer.run()
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
