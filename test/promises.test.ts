import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { open, rawJson, type Wakeful } from '../src/index.ts'
import { openTest } from '../src/testing/index.ts'

/**
 * Each promise of docs/guarantees.md, by its name, in its shortest form. The conformance suite, the chaos tests and the
 * end-to-end tests go deeper into each of them.
 */
const dir = mkdtempSync(join(tmpdir(), 'wakeful-promises-'))
afterAll(() => rmSync(dir, { recursive: true }))

async function occurrences(wakeful: Wakeful, types = ['alarm.fired', 'alarm.failed', 'alarm.skipped']) {
  const events = await Array.fromAsync(wakeful.events())
  return events.filter((event) => types.includes(event.type))
}

describe('durable', () => {
  it('when set answers, a kill -9 a moment later loses nothing', async () => {
    const path = join(dir, 'durable.db')
    const index = new URL('../src/index.ts', import.meta.url).href
    const program = `import { open } from ${JSON.stringify(index)}
      const wakeful = await open(${JSON.stringify(`sqlite:${path}`)})
      await wakeful.set('in 1 hour', { target: 'x', key: 'kept' })
      process.kill(process.pid, 'SIGKILL')`
    const { signal } = spawnSync(process.execPath, ['--input-type=module', '-e', program])
    expect(signal).toBe('SIGKILL')
    const wakeful = await open(`sqlite:${path}`)
    expect((await wakeful.getByKey('kept'))?.status).toBe('active')
    await wakeful.close()
  })
})

describe('at-least-once', () => {
  it('what was due while no process ran fires when one starts', async () => {
    const { wakeful, clock, close } = await openTest()
    const fired: string[] = []
    wakeful.handle('x', (fire) => void fired.push(fire.alarm.key!))
    await wakeful.set('in 1 minute', { target: 'x', key: 'missed' })
    await clock.advance('3 days')
    await wakeful.tick()
    expect(fired).toEqual(['missed'])
    await close()
  })
})

describe('recorded-once', () => {
  it('an occurrence with three attempts ends as one record', async () => {
    const { wakeful, clock, close } = await openTest()
    let attempts = 0
    wakeful.handle('x', () => {
      attempts += 1
      if (attempts < 3) throw new Error('not yet')
    })
    await wakeful.start()
    await wakeful.set('in 1 minute', { target: 'x' })
    await clock.advance('1 hour')
    const records = await occurrences(wakeful)
    expect(records.map((event) => [event.type, event.data.attempt])).toEqual([['alarm.fired', 3]])
    await close()
  })
})

describe('fenced', () => {
  it('once another process holds the shard, nothing of the former holder is accepted', async () => {
    const path = join(dir, 'fenced.db')
    const wakeful = await open(`sqlite:${path}`)
    const deferred = Promise.withResolvers<void>()
    const started = Promise.withResolvers<void>()
    wakeful.handle('x', async () => {
      started.resolve()
      await deferred.promise
    })
    await wakeful.start()
    const { id } = await wakeful.set('in 1 second', { target: 'x' })
    await wakeful.fireNow(id)
    await started.promise
    const usurper = new DatabaseSync(path)
    usurper.exec("UPDATE wakeful_shards SET epoch = epoch + 1, holder = 'usurper', file_locked = 0")
    deferred.resolve()
    await wakeful.close()
    const kept = usurper.prepare('SELECT count(*) AS n FROM wakeful_timers').get() as { n: number }
    const log = usurper
      .prepare("SELECT count(*) AS n FROM wakeful_events WHERE type = 'alarm.fired'")
      .get() as { n: number }
    expect([kept.n, log.n]).toEqual([1, 0])
    usurper.close()
  })
})

describe('cancel-wins', () => {
  it('after cancelled is answered nothing starts; while it fires, the answer says so and nothing recurs', async () => {
    const { wakeful, clock, close } = await openTest()
    let fires = 0
    const deferred = Promise.withResolvers<void>()
    wakeful.handle('x', async () => {
      fires += 1
      await deferred.promise
    })
    await wakeful.start()
    const won = await wakeful.set('in 1 minute', { target: 'x' })
    expect((await wakeful.cancel(won.id)).outcome).toBe('cancelled')
    const late = await wakeful.set({ every: '1m' }, { target: 'x' })
    await clock.advance('1 minute')
    expect((await wakeful.cancel(late.id)).outcome).toBe('firing')
    deferred.resolve()
    await clock.advance('1 hour')
    expect(fires).toBe(1)
    expect((await wakeful.get(late.id))?.status).toBe('cancelled')
    expect((await wakeful.cancel(late.id)).outcome).toBe('ended')
    await close()
  })
})

describe('never-early', () => {
  it('nothing fires before its instant, whatever the wall clock does', async () => {
    const { wakeful, clock, close } = await openTest()
    const drifts: number[] = []
    wakeful.handle('x', (fire) => void drifts.push(fire.driftMs))
    await wakeful.start()
    await wakeful.set({ every: '10m' }, { target: 'x' })
    for (const step of ['1h', '-1h', '1d', '-1d']) {
      await clock.advance('25m')
      clock.jump(step)
    }
    await clock.advance('2 days')
    expect(Math.min(...drifts)).toBeGreaterThanOrEqual(0)
    await close()
  })
})

describe('verbatim', () => {
  it('payload, message and ids are delivered byte for byte', async () => {
    const { wakeful, close } = await openTest()
    const payload = '{"z":1,"a":9007199254740993,"é":"\\u0000 \\ud83d\\ude00","n":1.0}'
    const message = 'line one\nline two\t"quoted" — ünïcödé 🌍'
    const { id } = await wakeful.set('in 1 hour', {
      target: 'x',
      payload: rawJson(payload),
      message,
      correlationId: 'Ω-1',
    })
    const wire = (await wakeful.wire(id))!
    expect(wire).toContain(`"payload":${payload}`)
    expect(JSON.parse(wire)).toMatchObject({ wake_message: message, correlation_id: 'Ω-1', id })
    await close()
  })
})

describe('isolated', () => {
  it('another owner’s alarms are not found, in every call', async () => {
    const { wakeful, close } = await openTest()
    const mine = wakeful.forTenant('acme', 'ann')
    const { id } = await mine.set('in 1 hour', { target: 'x', key: 'k', idempotencyKey: 'i', subject: 's' })
    for (const other of [
      wakeful,
      wakeful.forTenant('acme'),
      wakeful.forTenant('acme', 'bob'),
      wakeful.forTenant('evil', 'ann'),
    ]) {
      const notFound = { code: 'not_found' }
      for (const call of [
        'cancel',
        'pause',
        'resume',
        'skipNext',
        'fireNow',
        'retry',
        'complete',
        'fail',
        'why',
      ] as const) {
        await expect(other[call](id), call).rejects.toMatchObject(notFound)
      }
      await expect(other.reschedule(id, 'in 2 hours')).rejects.toMatchObject(notFound)
      await expect(other.edit(id, { label: 'mine' })).rejects.toMatchObject(notFound)
      expect([await other.get(id), await other.getByKey('k'), await other.wire(id)]).toEqual([
        null,
        null,
        null,
      ])
      expect(await other.cancelMany([id])).toEqual([{ id, outcome: 'not_found' }])
      expect([(await other.list()).items, await other.history(), await other.failed()]).toEqual([[], [], []])
      expect(await other.reset()).toEqual({ cancelled: 0, firing: 0 })
      expect(await other.removeSubject('s')).toEqual({ cancelled: 0, firing: 0 })
      expect((await other.stats()).total).toBe(0)
      expect(await Array.fromAsync(other.events({ alarmId: id }))).toEqual([])
    }
    expect((await mine.get(id))?.status).toBe('active')
    await close()
  })
})

describe('bounded', () => {
  it('no more is claimed than can be delivered soon, however much is due', async () => {
    const path = join(dir, 'bounded.db')
    const wakeful = await open(`sqlite:${path}`, { concurrency: 5, batch: 50 })
    const items = Array.from({ length: 500 }, () => ({ when: new Date(0), target: 'x' }))
    await wakeful.setMany(items)
    let [running, most, done] = [0, 0, 0]
    const all = Promise.withResolvers<void>()
    wakeful.handle('x', async () => {
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
      done += 1
      if (done === 500) all.resolve()
    })
    const observer = new DatabaseSync(path)
    const inFlight = () => {
      const rows = observer.prepare('SELECT timers FROM wakeful_in_flight_batches').all() as {
        timers: string
      }[]
      return rows.reduce((sum, row) => sum + (JSON.parse(row.timers) as number[]).length / 2, 0)
    }
    await wakeful.start()
    let peak = 0
    while (done < 500) {
      peak = Math.max(peak, inFlight())
      await new Promise((resolve) => setImmediate(resolve))
    }
    await all.promise
    expect(most).toBe(5)
    expect(peak).toBeLessThanOrEqual(100)
    observer.close()
    await wakeful.close()
  })
})

describe('calendar-true', () => {
  it('the next instant follows from the rule and the last scheduled instant, never from when it ran', async () => {
    const { wakeful, clock, close } = await openTest({ clock: '2026-03-28T00:00:00Z' })
    const instants: string[] = []
    wakeful.handle('slow', async (fire) => {
      instants.push(fire.occurrence.scheduledFor.toISOString())
      await new Promise<void>((resolve) => clock.setTimer(20_000, resolve))
    })
    await wakeful.set({ cron: '30 2 * * *', timezone: 'Europe/Rome' }, { target: 'slow' })
    while (instants.length < 3) {
      const { nextWakeAt } = await clock.until(wakeful.tick())
      await clock.advanceTo(nextWakeAt!)
      // Late each time, by more than the time between two scans.
      await clock.advance('45s')
    }
    // On the 29th 02:30 does not exist in Rome: it is 03:30 then, by the length of the gap.
    expect(instants).toEqual([
      '2026-03-28T01:30:00.000Z',
      '2026-03-29T01:30:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ])
    await close()
  })
})
