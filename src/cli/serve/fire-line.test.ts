import { expect, it } from 'vitest'
import type { Fire } from '../../targets/index.ts'
import { fireJson, fireLine } from './fire-line.ts'

const at = new Date('2026-11-15T08:00:00.000Z')
const alarm = {
  id: 'a-1',
  label: 'standup',
  message: 'come in',
  key: null,
  owner: 'ann',
  conversationId: '',
  correlationId: 'c-1',
  subject: 'room',
}

function fire(more: Partial<Fire> = {}): Fire {
  const base = {
    alarm,
    occurrence: { id: 'o-1', scheduledFor: at },
    firedAt: at,
    driftMs: 0,
    attempt: 1,
    payloadJson: null,
    message: alarm.message,
  }
  return { ...base, ...more } as unknown as Fire
}

it('has the time, the message, the lateness and the alarm', () => {
  expect(fireLine(fire(), 'Europe/Rome')).toBe(
    '2026-11-15 09:00:00 +01:00  fired: standup: come in  (on time, a-1)',
  )
  const late = fire({ driftMs: 90_000, attempt: 3, payloadJson: '{"n":\n12345678901234567890}' })
  expect(fireLine(late, 'UTC')).toBe(
    '2026-11-15 08:00:00 +00:00  fired: standup: come in  {"n":12345678901234567890}  (1m 30s late, attempt 3, a-1)',
  )
})

it('has the body of a webhook as JSON', () => {
  const text = fireJson(fire({ payloadJson: '[12345678901234567890]' }))
  expect(text).toContain('"payload":[12345678901234567890]')
  expect(JSON.parse(text)).toMatchObject({
    type: 'fire',
    alarm_id: 'a-1',
    occurrence_id: 'o-1',
    scheduled_for: '2026-11-15T08:00:00.000Z',
    drift_ms: 0,
    attempt: 1,
    owner: 'ann',
    user_id: 'ann',
    wake_message: 'come in',
    subject: 'room',
  })
})

it('names the user of an owner that is a DID, as a webhook does', () => {
  const owned = { ...alarm, owner: 'did:matrix:@ann:example.org:f00d' }
  const text = fireJson(fire({ alarm: owned as unknown as Fire['alarm'] }))
  expect(JSON.parse(text)).toMatchObject({ owner: owned.owner, user_id: '@ann:example.org' })
})
