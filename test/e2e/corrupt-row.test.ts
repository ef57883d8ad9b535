import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { newPath } from './cast.ts'

test('an alarm that becomes unreadable while it is delivered is set aside, and the rest go on', async () => {
  const path = newPath()
  const troubles: unknown[] = []
  const wakeful = await open(path, { onTrouble: (thrown) => troubles.push(thrown) })
  const db = new DatabaseSync(path)
  try {
    wakeful.handle('spoil', () => {
      db.exec("UPDATE wakeful_alarms SET rule = '{' WHERE target = 'spoil'")
      // Its settle has to look at the alarm again.
      db.exec("UPDATE wakeful_timers SET edited = 1 WHERE target = 'spoil'")
    })
    const fired = new Promise<void>((resolve) => wakeful.handle('note', () => resolve()))
    await wakeful.start()
    await wakeful.set({ every: '1s', start: new Date(Date.now() + 100), count: 5 }, { target: 'spoil' })
    await new Promise((resolve) => setTimeout(resolve, 300))
    await wakeful.set(new Date(), { target: 'note' })
    await fired
    expect(troubles).toEqual([])
    const outcome = db.prepare("SELECT status, last_error FROM wakeful_outcomes WHERE target = 'spoil'").get()
    expect(outcome).toMatchObject({ status: 'failed', last_error: expect.stringContaining('quarantined') })
  } finally {
    db.close()
    await wakeful.close()
  }
})
