import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { newPath } from './actors.ts'

test('an alarm that becomes unreadable during its delivery is quarantined, and the rest continue', async () => {
  const path = newPath()
  const errors: unknown[] = []
  const wakeful = await open(path, { onError: (thrown) => errors.push(thrown) })
  const db = new DatabaseSync(path)
  try {
    wakeful.handle('spoil', () => {
      db.exec("UPDATE wakeful_alarms SET rule = '{' WHERE target = 'spoil'")
      // Its settle has to read the alarm again.
      db.exec("UPDATE wakeful_timers SET edited = 1 WHERE target = 'spoil'")
    })
    const fired = new Promise<void>((resolve) => wakeful.handle('note', () => resolve()))
    await wakeful.start()
    await wakeful.set({ every: '1s', start: new Date(Date.now() + 100), count: 5 }, { target: 'spoil' })
    await new Promise((resolve) => setTimeout(resolve, 300))
    await wakeful.set(new Date(), { target: 'note' })
    await fired
    expect(errors).toEqual([])
    const outcome = db.prepare("SELECT status, last_error FROM wakeful_outcomes WHERE target = 'spoil'").get()
    expect(outcome).toMatchObject({ status: 'failed', last_error: expect.stringContaining('quarantined') })
  } finally {
    db.close()
    await wakeful.close()
  }
})

test('an outcome that cannot be written is quarantined alone: the rest of its batch and concurrent sets are kept', async () => {
  const path = newPath()
  const errors: unknown[] = []
  const wakeful = await open(path, { onError: (thrown) => errors.push(thrown) })
  const db = new DatabaseSync(path)
  try {
    let handled = 0
    wakeful.handle('note', () => {
      handled += 1
    })
    const each = (target: 'note' | { event: true }) => ({ when: new Date(), target })
    const bad = await wakeful.set(new Date(), { target: { event: true } })
    const badToo = await wakeful.set(new Date(), { target: 'note' })
    await wakeful.setMany(Array.from({ length: 20 }, (_, i) => each(i % 2 === 0 ? 'note' : { event: true })))
    db.exec(`CREATE TRIGGER refuse BEFORE INSERT ON wakeful_events
      WHEN NEW.type IN ('timer.due_time_reached', 'alarm.fired')
        AND NEW.alarm IN (SELECT seq FROM wakeful_alarms WHERE id IN ('${bad.id}', '${badToo.id}'))
      BEGIN SELECT RAISE(ABORT, 'refused'); END`)
    const [{ fired }, ...later] = await Promise.all([
      wakeful.tick(),
      ...Array.from({ length: 20 }, () => wakeful.set({ delay: '1d' }, { target: 'note' })),
    ])
    expect(errors).toEqual([])
    expect(later).toHaveLength(20)
    expect(handled).toBe(11)
    // Both were delivered; neither could be recorded.
    expect(fired).toBe(22)
    for (const { id } of [bad, badToo]) {
      const now = await wakeful.get(id)
      expect(now).toMatchObject({ status: 'failed', lastError: expect.stringContaining('refused') })
    }
    expect(await wakeful.stats()).toMatchObject({ total: 42, pending: 20, completed: 20, failed: 2 })
    const count = db.prepare("SELECT count(*) AS n FROM wakeful_events WHERE type <> 'alarm.failed'").get()
    expect(count).toEqual({ n: 20 })
  } finally {
    db.close()
    await wakeful.close()
  }
})
