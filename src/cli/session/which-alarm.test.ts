import { expect, it } from 'vitest'
import type { Alarms } from '../../index.ts'
import { wholeId } from './which-alarm.ts'

const IDS = ['0190c3b2-7e3a-7c3e-8e0c-0f3f2a5b1c2d', '0190c3b2-7e3b-7c3e-8e0c-0f3f2a5b1c2d', '0190c3b3-0000']

/** A list of one alarm to the page. */
const alarms = {
  list: async ({ cursor = '0' }: { cursor?: string }) => ({
    items: [{ id: IDS[Number(cursor)]! }],
    nextCursor: Number(cursor) + 1 < IDS.length ? String(Number(cursor) + 1) : null,
  }),
} as unknown as Alarms

it('finds an id by a unique prefix', async () => {
  expect(await wholeId(alarms, '0190c3b2-7e3a')).toBe(IDS[0])
  expect(await wholeId(alarms, '0190C3B3')).toBe(IDS[2])
  await expect(wholeId(alarms, '0190c3b2')).rejects.toThrow(/is a prefix of 2 ids.*Use more characters/)
  await expect(wholeId(alarms, '0190c3ff')).rejects.toMatchObject({ code: 'not_found' })
})

it.each([IDS[0]!, '0190c3b', 'standup', 'no-such-id'])('returns %s unchanged', async (id) => {
  expect(await wholeId(alarms, id)).toBe(id)
})
