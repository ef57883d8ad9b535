import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { connect, Session } from './connection.ts'
import { WriteQueue } from './write-queue.ts'

let dir: string
let path: string
let session: Session
let queue: WriteQueue

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'wakeful-queue-'))
  path = join(dir, 'q.db')
  session = new Session(connect(path))
  session.db.exec('CREATE TABLE t (n INTEGER UNIQUE) STRICT')
  queue = new WriteQueue(session, path, 300)
})
afterEach(() => {
  session.db.close()
  rmSync(dir, { recursive: true })
})

const insert = (n: number) => queue.run((each) => each.run('INSERT INTO t VALUES (?)', n))
const all = () => session.all<{ n: number }>('SELECT n FROM t ORDER BY n').map((row) => row.n)

describe('the write queue', () => {
  it('lets callers of one moment share a commit', async () => {
    const observer = new Session(connect(path))
    const version = () => observer.get<{ data_version: number }>('PRAGMA data_version')?.data_version
    const before = version()
    await Promise.all([1, 2, 3].map(insert))
    const after = version()
    expect(all()).toEqual([1, 2, 3])
    expect(after).not.toBe(before)
    observer.db.close()
  })

  it('undoes a job that fails alone, and answers the others', async () => {
    const answers = await Promise.allSettled([insert(1), insert(1), insert(2)])
    expect(answers.map((answer) => answer.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(all()).toEqual([1, 2])
  })

  it('undoes all a failing job wrote before it failed', async () => {
    const half = queue.run((each) => {
      each.run('INSERT INTO t VALUES (5)')
      throw new Error('changed my mind')
    })
    const [failed] = await Promise.allSettled([half, insert(6)])
    expect(failed.status).toBe('rejected')
    expect(all()).toEqual([6])
    await expect(queue.run(() => Promise.reject(new Error('x')))).rejects.toThrow()
  })

  it('runs a lone job that fails only once', async () => {
    let runs = 0
    const failing = queue.run(() => {
      runs += 1
      throw new Error('refused')
    })
    await expect(failing).rejects.toThrow('refused')
    expect(runs).toBe(1)
  })

  it('uses no savepoints until work that is to be undone alone has failed, then runs all of it again', async () => {
    const seen: boolean[] = []
    const work = (each: Session) => {
      seen.push(each.savepoints)
      each.run('INSERT INTO t VALUES (1)')
      try {
        each.undoable(() => each.run('INSERT INTO t VALUES (1)'))
      } catch (thrown) {
        if (!each.savepoints) throw thrown
      }
      return 'written'
    }
    expect(await queue.run(work)).toBe('written')
    expect(all()).toEqual([1])
    expect(seen).toEqual([false, true])
    // For a while, so that one who fails often does not have everybody run twice.
    await queue.run((each) => seen.push(each.savepoints))
    for (let commits = 0; commits < 30; commits++) await insert(2 + commits)
    await queue.run((each) => seen.push(each.savepoints))
    expect(seen).toEqual([false, true, true, false])
  })

  it('leaves savepoints to users, whose transactions it does not begin', async () => {
    await insert(1)
    expect(session.savepoints).toBe(true)
  })

  it('waits for another connection without blocking the event loop, then goes on', async () => {
    const other = connect(path)
    other.exec('BEGIN IMMEDIATE')
    const waiting = insert(1)
    let turns = 0
    while (turns < 20) {
      await new Promise((resolve) => setImmediate(resolve))
      turns += 1
    }
    expect(all()).toEqual([])
    other.exec('COMMIT')
    await waiting
    expect(all()).toEqual([1])
    other.close()
  })

  it('gives up with a clear error when the lock is held too long, and works again afterwards', async () => {
    const other = connect(path)
    other.exec('BEGIN IMMEDIATE')
    await expect(insert(1)).rejects.toMatchObject({ code: 'store_unavailable', message: /write lock/ })
    other.exec('ROLLBACK')
    await insert(2)
    expect(all()).toEqual([2])
    other.close()
  })

  it('holds writes back while one has the file to itself', async () => {
    const order: string[] = []
    const gate = Promise.withResolvers<void>()
    const alone = queue.exclusive(async () => {
      await gate.promise
      order.push('exclusive')
    })
    const later = insert(1).then(() => order.push('insert'))
    await new Promise((resolve) => setImmediate(resolve))
    gate.resolve()
    await Promise.all([alone, later])
    expect(order).toEqual(['exclusive', 'insert'])
  })

  it('writes what is queued before it closes, and refuses the rest', async () => {
    const last = insert(1)
    await queue.close()
    await last
    expect(all()).toEqual([1])
    await expect(insert(2)).rejects.toMatchObject({ code: 'store_unavailable' })
  })
})
