import { expect, test } from 'vitest'
import { afterwards } from '../../test/afterwards.ts'
import { openSqlite } from '../stores/sqlite/index.ts'
import { VirtualClock } from '../testing/index.ts'
import { Leases } from './leases.ts'

test('a release that failed is tried again at the next heartbeat', async () => {
  const clock = new VirtualClock('2030-01-01T00:00:00Z')
  const sqlite = await openSqlite({ path: ':memory:', clock })
  afterwards(() => sqlite.close())
  const refused = new Error('the disk is full')
  let failures = 1
  const released: string[][] = []
  const store = new Proxy(sqlite, {
    get(target, name) {
      if (name !== 'releaseLeases') {
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      }
      return async (leases: Parameters<typeof sqlite.releaseLeases>[0]) => {
        released.push(leases.map(({ pool }) => pool))
        if (failures-- > 0) throw refused
        await sqlite.releaseLeases(leases)
      }
    },
  })
  let pools = ['app', 'wakeful']
  const [errors, lost]: [unknown[], string[]] = [[], []]
  const leases = new Leases({
    store,
    clock,
    process: 'one',
    pools: async () => pools,
    observer: undefined,
    context: () => ({ now: clock.now(), graceMs: 60_000, random: () => 0, newId: () => 'id' }),
    onError: (thrown) => void errors.push(thrown),
    onLost: ({ pool }) => void lost.push(pool),
    onRenewed: async () => {},
  })
  const leased = () => leases.all.map(({ pool }) => pool).sort()
  await leases.heartbeat()
  expect(leased()).toEqual(['app', 'wakeful'])
  pools = ['app']
  await leases.heartbeat()
  // Nothing is claimed with it any more, but the store still has it as this process's.
  expect([errors, lost, leased()]).toEqual([[refused], ['wakeful'], ['app', 'wakeful']])
  await leases.heartbeat()
  expect([released, errors, leased()]).toEqual([[['wakeful'], ['wakeful']], [refused], ['app']])
  const states = await sqlite.shardStates(false, ['app', 'wakeful'])
  expect(states.map(({ pool, holder }) => [pool, holder !== null])).toEqual([
    ['app', true],
    ['wakeful', false],
  ])
  await leases.release()
})
