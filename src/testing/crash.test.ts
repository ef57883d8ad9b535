import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { openTest, type TestBench } from './open-test.ts'

describe('a crash', () => {
  const folder = mkdtempSync(join(tmpdir(), 'wakeful-crash-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  /** A handler that takes a second, in a process that dies so many milliseconds after its alarm was set. */
  async function livedThrough(afterMs: number) {
    const store = `sqlite:${join(folder, `${afterMs}.db`)}`
    const began: string[] = []
    const ended: string[] = []
    const first = await openTest({ store })
    const { clock } = first
    const equip = async ({ wakeful }: TestBench) => {
      wakeful.handle('work', async (fire) => {
        began.push(`${fire.occurrence.id} ${fire.attempt}`)
        await new Promise<void>((resolve) => void clock.setTimer(1_000, resolve))
        ended.push(fire.occurrence.id)
      })
      await wakeful.start()
    }
    await equip(first)
    const { id } = await first.wakeful.set({ delay: '2s' }, { target: 'work' })
    await clock.advance(afterMs)
    first.crash()
    await using second = await openTest({ store, clock })
    await equip(second)
    await clock.advance('15s')
    return { status: (await second.wakeful.get(id))?.status, began, ended, first }
  }

  test.each([0, 1_999, 2_000, 2_500, 3_000, 3_001, 5_000])(
    'after %i ms loses nothing, and says which attempt it is',
    async (afterMs) => {
      const { status, began } = await livedThrough(afterMs)
      expect(status).toBe('fired')
      const isCut = afterMs >= 2_000 && afterMs < 3_000
      expect(began.map((each) => each.split(' ')[1])).toEqual(isCut ? ['1', '2'] : ['1'])
      expect(new Set(began.map((each) => each.split(' ')[0])).size).toBe(1)
    },
  )

  test('leaves a bench that does nothing more, and can be closed', async () => {
    const { first } = await livedThrough(2_500)
    await expect(first.wakeful.set({ delay: '1s' }, { target: 'work' })).rejects.toThrow()
    await first.close()
  })

  test('needs a file: what is in memory is gone with its process', async () => {
    await using bench = await openTest()
    expect(() => bench.crash()).toThrow('An in-memory store is lost in a crash')
  })
})
