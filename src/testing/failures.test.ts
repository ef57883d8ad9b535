import { expect, test } from 'vitest'
import { openTest } from './open-test.ts'

const T0 = Date.parse('2030-01-01T00:00:00Z')

test('each failed occurrence of a recurring alarm is one item of failed and of history', async () => {
  await using bench = await openTest()
  const { wakeful, clock } = bench
  let isBroken = true
  wakeful.handle('backup', () => {
    if (isBroken) throw new Error('no space left')
  })
  await wakeful.start()
  const { id } = await wakeful.set({ every: '1h' }, { target: 'backup', label: 'nightly', maxFailures: 1 })
  await clock.advance('2h')
  isBroken = false
  await clock.advance('2h')
  const failed = await wakeful.failed()
  expect(failed).toHaveLength(2)
  expect(failed.map(({ scheduledFor }) => scheduledFor?.getTime())).toEqual([T0 + 7_200_000, T0 + 3_600_000])
  for (const item of failed) {
    expect(item).toMatchObject({
      id,
      label: 'nightly',
      status: 'active',
      lastError: 'no space left',
      result: 'FAILED: no space left (after 1 attempt)',
      attempts: 1,
      completedAt: null,
    })
    expect(item.occurrenceId).toBe(`${id}-1-${item.scheduledFor!.getTime()}`)
  }
  expect(await wakeful.history({ status: 'failed' })).toEqual(failed)
  expect(await wakeful.history({ status: 'failed', target: 'backup', since: '150m' })).toHaveLength(1)
  expect(await wakeful.history({ status: 'failed', target: 'other' })).toEqual([])
  expect(await wakeful.history({ status: 'timeout_unknown' })).toEqual([])
  expect(await wakeful.stats()).toMatchObject({ total: 1, pending: 1, failed: 2, completed: 0 })
  // The alarm itself is as its newest occurrence left it.
  expect(await wakeful.get(id)).toMatchObject({ status: 'active', lastError: null, occurrenceId: null })
  const { items, nextCursor } = await wakeful.failedPage({ limit: 1 })
  const rest = await wakeful.historyPage({ status: 'failed', limit: 1, cursor: nextCursor! })
  expect([...items, ...rest.items]).toEqual(failed)
  expect(rest.nextCursor).toBeNull()
})

test('an occurrence without its report is listed as timed out', async () => {
  await using bench = await openTest()
  const { wakeful, clock } = bench
  wakeful.handle('report', () => {})
  await wakeful.start()
  const { id } = await wakeful.set(
    { every: '1h' },
    { target: 'report', ack: 'report', completionTimeout: '5m' },
  )
  await clock.advance('1h10m')
  expect(await wakeful.stats()).toMatchObject({ pending: 1, failed: 0, timeoutUnknown: 1 })
  expect(await wakeful.history({ status: 'timeout_unknown' })).toMatchObject([
    { id, status: 'active', result: 'timeout_unknown' },
  ])
  await wakeful.complete(id, 'late, but done')
  expect(await wakeful.failed()).toEqual([])
  expect(await wakeful.stats()).toMatchObject({ pending: 1, timeoutUnknown: 0 })
})

test('an occurrence that a report failed after its timeout keeps the reason', async () => {
  await using bench = await openTest()
  const { wakeful, clock } = bench
  wakeful.handle('report', () => {})
  await wakeful.start()
  const options = { target: 'report', ack: 'report', completionTimeout: '5m' } as const
  const { id } = await wakeful.set({ every: '1h' }, options)
  await clock.advance('3h10m')
  const [third, second, first] = await wakeful.failed()
  await wakeful.fail(id, 'the newest, unnamed')
  await wakeful.fail(id, 'the oldest', { occurrenceId: first!.occurrenceId! })
  await clock.advance('1h')
  const failed = await wakeful.failed()
  expect(failed.map(({ occurrenceId, lastError }) => [occurrenceId, lastError])).toEqual([
    [failed[0]!.occurrenceId, 'no report came in time'],
    [third!.occurrenceId, 'the newest, unnamed'],
    [second!.occurrenceId, 'no report came in time'],
    [first!.occurrenceId, 'the oldest'],
  ])
  expect(failed[3]!.result).toBe('FAILED: the oldest (after 1 attempt)')
  expect((await wakeful.failedPage()).items).toEqual(failed)
  const { story } = await wakeful.why(id)
  expect(story.map(({ text }) => text)).toContain('failed for good, after the timeout: the oldest')
})

test('a failed one-shot alarm is listed until a retry succeeds', async () => {
  await using bench = await openTest({ retention: '1d' })
  const { wakeful, clock } = bench
  let isBroken = true
  wakeful.handle('send', () => {
    if (isBroken) throw new Error('offline')
  })
  await wakeful.start()
  const { id } = await wakeful.set({ delay: '1m' }, { target: 'send', maxFailures: 1 })
  await clock.advance('12h')
  expect(await wakeful.failed()).toMatchObject([{ id, status: 'failed', lastError: 'offline' }])
  await wakeful.retry(id)
  expect(await wakeful.failed()).toEqual([])
  await clock.advance('1m')
  expect(await wakeful.failed()).toMatchObject([{ id, status: 'failed' }])
  isBroken = false
  await wakeful.retry(id)
  await clock.advance('1m')
  expect(await wakeful.failed()).toEqual([])
  expect(await wakeful.stats()).toMatchObject({ total: 1, failed: 0, completed: 1 })
})
