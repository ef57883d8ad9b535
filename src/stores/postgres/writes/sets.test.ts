import { describe, expect, it } from 'vitest'
import type { SetRequest } from '../../index.ts'
import { NextWakeCache, realTimers } from '../../sharded/index.ts'
import type { Database } from '../connection/index.ts'
import type { ShardMap } from '../rows/index.ts'
import { Sets } from './group-commit.ts'

const BROKEN = Object.assign(new Error('the connection is gone'), { code: 'ECONNRESET' })
const DUPLICATE = Object.assign(new Error('its id is there already'), { code: '23505' })

/** Two callers of one moment set an alarm each. The first write is carried out, and its answer is lost. */
function setBoth(seesThem: boolean) {
  let writes = 0
  const database = {
    timers: realTimers,
    session: {
      async rows(_: string, ids: readonly string[]) {
        if (!seesThem) throw BROKEN
        return ids.map((id) => [id])
      },
    },
  } as unknown as Database
  const write = () => {
    writes += 1
    return Promise.reject(writes === 1 ? BROKEN : DUPLICATE)
  }
  const shards = { ensure: async () => {} } as unknown as ShardMap
  const sets = new Sets(database, shards, new NextWakeCache(), write)
  const context = { now: 0, graceMs: 60_000, random: () => 0, newId: () => 'id' }
  return Promise.allSettled(
    ['a', 'b'].map((id) => {
      const alarm = { id, key: null, idempotencyKey: null, target: { pool: 'app' } }
      return sets.set({ requests: [{ alarm, timer: { wakeAt: 0 } } as unknown as SetRequest], context })
    }),
  )
}

describe('a set whose answer was lost', () => {
  it('is answered when it is found (durable)', async () => {
    expect((await setBoth(true)).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
  })

  it('is unknown if it cannot be looked up: no caller gets an error about its row', async () => {
    const open = { status: 'rejected', reason: BROKEN }
    expect(await setBoth(false)).toEqual([open, open])
  })
})
