import { expect, test } from 'vitest'
import { resolveWhen, type When } from '../../time/index.ts'
import { DEFAULT_LIMITS, DEFAULTS } from '../fields/index.ts'
import { buildAlarm, firstTimer, type Timer } from '../model/index.ts'
import { moveIfInstantChanged } from './recurrence.ts'

const NOW = Date.parse('2026-06-01T00:00:00Z')
const HOUR = 3_600_000
const context = { now: NOW, graceMs: 60_000, random: () => 0, newId: () => 'new' }

function dueTimer(when: When, changed: Partial<Timer>) {
  const resolved = resolveWhen(when, { now: NOW, timezone: 'Europe/Rome' })
  const target = { kind: 'handler', name: 'x', pool: 'app' }
  const shop = { limits: DEFAULT_LIMITS, defaults: DEFAULTS, target: () => target, newId: () => 'id' }
  const alarm = buildAlarm({ tenant: 't', owner: '' }, resolved, { target: 'x' }, NOW, shop)
  const row = { id: 1, shard: 1, version: 1, edited: false, report: null }
  return [alarm, { ...firstTimer(alarm, resolved), ...row, ...changed } as Timer] as const
}

test('a timer that stands right is left alone', () => {
  expect(moveIfInstantChanged(...dueTimer({ cron: '0 9 * * *' }, {}), context)).toBeNull()
  expect(moveIfInstantChanged(...dueTimer('tomorrow at 9am', {}), context)).toBeNull()
})

test('new zone data moves it to the same wall time', () => {
  const at = Date.parse('2026-06-01T08:00:00Z')
  const change = moveIfInstantChanged(
    ...dueTimer({ cron: '0 9 * * *' }, { scheduledFor: at, zoneOffset: HOUR }),
    context,
  )
  expect(change?.update).toMatchObject([{ scheduledFor: at - HOUR, wakeAt: at - HOUR, zoneOffset: 2 * HOUR }])
})

test('never to where another has fired: it would bear its name', () => {
  const at = Date.parse('2026-06-01T09:00:00Z')
  const place = { scheduledFor: at, zoneOffset: HOUR, floor: at - HOUR }
  expect(moveIfInstantChanged(...dueTimer({ cron: '0 9,10 * * *' }, place), context)).toBeNull()
})

test('what has come due and waits is not moved any more', () => {
  const at = Date.parse('2026-06-01T08:00:00Z')
  const place = { scheduledFor: at, zoneOffset: HOUR, waiting: 'handler' as const }
  expect(moveIfInstantChanged(...dueTimer({ cron: '0 9 * * *' }, place), context)).toBeNull()
})
