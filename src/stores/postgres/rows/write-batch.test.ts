import { expect, it } from 'vitest'
import type { Timer } from '../../../alarm/index.ts'
import type { Session } from '../connection/index.ts'
import type { ShardMap } from './shard-map.ts'
import { type StoreContext, WriteBatch } from './write-batch.ts'

it('notifies of accepted wakes also where later work of the batch was rolled back', async () => {
  const noticed: [number, number][] = []
  const context: StoreContext = {
    shards: { ensure: async () => {} } as unknown as ShardMap,
    clockOverride: () => null,
    channel: 'c',
    noticeFor: (wakes) => {
      noticed.push(...wakes)
      return null
    },
  }
  const sent: string[] = []
  const session = { send: (text: string) => void sent.push(text) } as unknown as Session
  const batch = new WriteBatch(session, context)
  batch.moveTimer({ id: 1, shard: 7, wakeAt: 500 } as Timer, { id: 1 })
  await batch.flush()
  batch.keepTallies()
  batch.removeTimer(2)
  batch.discard()
  await batch.finish()
  expect(noticed).toEqual([[7, 500]])
  expect(sent).toHaveLength(1)
})
