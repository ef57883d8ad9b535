import { once } from 'node:events'
import { expect, test } from 'vitest'
import { enterRunning, newPath } from './actors.ts'

test('fires a set from another process', async () => {
  const path = newPath()
  const owner = await enterRunning(path)
  const other = await enterRunning(path)
  expect(await Promise.all([owner.call('isOwner'), other.call('isOwner')])).toEqual([true, false])

  const messages = Array.from({ length: 20 }, (_, i) => `m${i}`)
  for (const message of messages) {
    await other.set(300, { message })
    await new Promise((resolve) => setTimeout(resolve, 70))
  }
  const fires = await Promise.all(messages.map((message) => owner.fired(message)))
  const late = fires.map(({ at, due }) => at - due).sort((a, b) => a - b)
  console.log(`a set from another process, ms after its instant: ${late.join(' ')}`)
  expect(late[0]).toBeGreaterThanOrEqual(0)
  expect(other.fires).toEqual([])
}, 30_000)

test('takes over from a killed process, with deliveries in flight as attempt 2 of the same occurrence', async () => {
  const path = newPath()
  const owner = await enterRunning(path)
  const other = await enterRunning(path)
  await owner.set(0, { target: 'work', payload: { ms: 60_000 }, message: 'in flight' })
  await owner.set(500, { message: 'due later' })
  const first = await owner.fired('in flight')
  const killedAt = Date.now()
  await owner.kill()

  const second = await other.fired('in flight')
  const due = await other.fired('due later')
  console.log(`takeover from a killed owner: ${second.at - killedAt} ms`)
  expect(second).toMatchObject({ occurrenceId: first.occurrenceId, attempt: 2, due: first.due })
  expect(due).toMatchObject({ attempt: 1 })
})

test('a graceful close hands over, and nothing is delivered twice', async () => {
  const path = newPath()
  const owner = await enterRunning(path)
  const other = await enterRunning(path)
  await owner.set(0, { target: 'work', payload: { ms: 300 }, message: 'draining' })
  await owner.fired('draining')
  const exited = once(owner.child, 'exit')
  await owner.call('close')
  const closedAt = Date.now()
  await other.set(0, { message: 'after' })
  const { at } = await other.fired('after')
  console.log(`handover after a graceful close: ${at - closedAt} ms`)
  expect(other.fires.map(({ message }) => message)).toEqual(['after'])
  expect(await exited).toEqual([0, null])
})

test('a drain longer than the lease keeps its shard: nothing is delivered a second time (at-least-once, no unexplained duplicate)', async () => {
  const path = newPath()
  const owner = await enterRunning(path)
  const other = await enterRunning(path)
  const { id } = await owner.set(0, { target: 'work', payload: { ms: 8_000 }, message: 'slow' })
  await owner.fired('slow')
  await owner.call('close')
  await other.until('get', [id], (alarm: { status: string }) => alarm.status === 'fired')
  expect(other.fires).toEqual([])
}, 30_000)
