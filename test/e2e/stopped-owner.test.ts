import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { enterRunning, newPath } from './actors.ts'

function read<T>(path: string, sql: string): T {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    return db.prepare(sql).get() as T
  } finally {
    db.close()
  }
}

const epoch = (path: string) =>
  read<{ epoch: number }>(path, "SELECT epoch FROM wakeful_shards WHERE pool = 'app'").epoch
const fired = (path: string) =>
  read<{ count: number }>(path, "SELECT count(*) AS count FROM wakeful_events WHERE type = 'alarm.fired'")
    .count

test('a paused process loses its shard, and its later writes are rejected (fenced)', async () => {
  const path = newPath()
  const owner = await enterRunning(path)
  const other = await enterRunning(path)
  const { id } = await owner.set(0, { target: 'work', payload: { ms: 500 }, message: 'in flight' })
  const due = await owner.set(2_000, { message: 'due while stopped' })
  const first = await owner.fired('in flight')
  const before = epoch(path)
  owner.child.kill('SIGSTOP')

  const second = await other.fired('in flight')
  await other.fired('due while stopped')
  console.log(`takeover from a stopped owner: ${second.at - first.at} ms`)
  expect(second).toMatchObject({ occurrenceId: first.occurrenceId, attempt: 2 })
  for (const each of [id, due.id])
    await other.until('get', [each], (alarm: { status: string }) => alarm.status === 'fired')
  expect(epoch(path)).toBe(before + 1)
  expect(fired(path)).toBe(2)

  owner.child.kill('SIGCONT')
  // Its handler ends now and its engine settles in vain.
  await owner.until('isOwner', [], (is: boolean) => !is)
  const after = await owner.set(200, { message: 'after' })
  await other.fired('after')
  await owner.until('get', [after.id], (alarm: { status: string }) => alarm.status === 'fired')
  expect(fired(path)).toBe(3)
  expect(epoch(path)).toBe(before + 1)
  expect(owner.fires.map(({ message }) => message)).toEqual(['in flight'])

  // It stands by and takes over again when the new lease holder dies.
  await other.kill()
  await owner.set(0, { message: 'back' })
  await owner.fired('back')
  expect(epoch(path)).toBe(before + 2)
}, 40_000)

test('a process whose thread was blocked for longer than its lease continues if no other took over', async () => {
  const path = newPath()
  const owner = await enterRunning(path)
  await owner.set(1_000, { message: 'due meanwhile' })
  await owner.set(0, { target: 'block', payload: { ms: 6_500 }, message: 'blocks' })
  await owner.fired('due meanwhile')
  await owner.set(100, { message: 'after' })
  await owner.fired('after')
  expect(owner.fires.map(({ attempt }) => attempt)).toEqual([1, 1, 1])
}, 40_000)
