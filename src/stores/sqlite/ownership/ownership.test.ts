import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import type { Clock } from '../../../time/index.ts'
import { openSqlite } from '../store.ts'

const folder = mkdtempSync(join(tmpdir(), 'wakeful-ownership-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A clock that moves when it is told to. */
class SteppedClock implements Clock {
  #passed = 0
  now = () => Date.UTC(2030, 0, 1) + this.#passed
  monotonic = () => this.#passed
  setTimer = () => () => {}
  turn = () => Promise.resolve()

  step(ms: number): void {
    this.#passed += ms
  }
}

const LEASE_MS = 5_000
const POOLS = ['app']

/** Two processes on one file, of which the first runs the clock; somebody else may have the write lock. */
async function two(name: string) {
  const path = join(folder, `${name}.db`)
  const clock = new SteppedClock()
  const context = { now: clock.now(), graceMs: 60_000, random: () => 0, newId: () => 'id' }
  const stores = [await openSqlite({ path, clock }), await openSqlite({ path, clock })] as const
  const own = (index: 0 | 1) => stores[index].heartbeat(`process-${index}`, POOLS, context)
  expect(await own(0)).toHaveLength(1)
  expect(await own(1)).toHaveLength(0)
  const stranger = new DatabaseSync(path)
  const close = async () => {
    stranger.close()
    for (const store of stores) await store.close()
  }
  return { clock, own, stranger, stores, close }
}

describe('an owner that was stopped for longer than its lease (promise: fenced)', () => {
  test('and another that takes over do not both have the shard, whoever gets the write lock first', async () => {
    const { clock, own, stranger, stores, close } = await two('race')
    clock.step(LEASE_MS)
    stranger.exec('BEGIN IMMEDIATE')
    const other = own(1)
    await new Promise((resolve) => setTimeout(resolve, 20))
    const stopped = own(0)
    await new Promise((resolve) => setTimeout(resolve, 20))
    stranger.exec('COMMIT')
    const leases = [...(await other), ...(await stopped)]
    const kept = await stores[0].shardStates()
    const named = ({ holder, epoch }: { holder: string | null; epoch: number }) => `${holder} ${epoch}`
    expect(leases.map(named)).toEqual(kept.map(named))
    await close()
  })

  test('goes on where nobody has taken over, with all that it has in flight', async () => {
    const { clock, own, close } = await two('alone')
    const [before] = await own(0)
    clock.step(10 * LEASE_MS)
    const [after] = await own(0)
    expect(after).toMatchObject({ epoch: before!.epoch, until: clock.monotonic() + LEASE_MS })
    expect(await own(1)).toHaveLength(0)
    await close()
  })

  test('has lost the shard where somebody has', async () => {
    const { clock, own, close } = await two('late')
    clock.step(LEASE_MS)
    expect(await own(1)).toHaveLength(1)
    expect(await own(0)).toHaveLength(0)
    await close()
  })
})
