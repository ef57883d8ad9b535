import { expect, it } from 'vitest'
import { VirtualClock } from '../../testing/index.ts'
import type { Caller } from '../auth/index.ts'
import { ConnectionLimiter, type LiveConnection } from './connection-limiter.ts'

it('checks keys at one pace, also if connections end and begin while a check waits for the store', async () => {
  const clock = new VirtualClock()
  const slow = Promise.withResolvers<boolean>()
  let checks = 0
  const isValid = () => {
    checks += 1
    return checks === 1 ? slow.promise : Promise.resolve(true)
  }
  const limiter = new ConnectionLimiter({ isValid }, clock, 10, { connected: () => () => {} })
  const caller = { tenant: 't', owner: '', keyId: 'k', keyHash: 'h' } as Caller
  const connection = (): LiveConnection => ({ kind: 'ws', caller, end: () => {} })
  const remove = limiter.add(connection())
  await clock.advance(250)
  expect(checks).toBe(1)
  remove()
  limiter.add(connection())
  slow.resolve(true)
  await clock.advance(1_000)
  expect(checks).toBe(1 + 4)
})
