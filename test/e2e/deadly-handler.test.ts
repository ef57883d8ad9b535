import { once } from 'node:events'
import { expect, test } from 'vitest'
import type { AlarmView } from '../../src/index.ts'
import { enter, newPath } from './actors.ts'

test('a handler that kills its process fails for good after its attempts', async () => {
  const path = newPath()
  const setter = await enter(path)
  const { id } = await setter.set(0, { target: 'die', maxFailures: 3 })
  let deaths = 0
  for (;;) {
    const actor = await enter(path)
    const exited = once(actor.child, 'exit').then(() => 'died' as const)
    const survived = actor
      .call('start')
      .then(() => actor.until('get', [id], (alarm: AlarmView) => alarm.status === 'failed'))
      .then(() => 'failed' as const)
    // A dead process answers nothing.
    survived.catch(() => {})
    if ((await Promise.race([exited, survived])) === 'failed') break
    deaths += 1
    expect(deaths).toBeLessThanOrEqual(3)
  }
  expect(deaths).toBe(3)
  const alarm = await setter.call<AlarmView>('get', id)
  expect(alarm).toMatchObject({ status: 'failed', attempts: 3, failureCount: 3 })
  expect(alarm.lastError).toContain('ended before it recorded the outcome')
}, 30_000)
