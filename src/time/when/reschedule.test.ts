import { describe, expect, it } from 'vitest'
import type { Rule } from '../rules/index.ts'
import { resolveReschedule } from './reschedule.ts'
import { resolveWhen, type When } from './when.ts'

const NOW = Date.UTC(2026, 10, 16)
const calendars = Object.assign(
  (name: string) => (name === 'us-holidays' ? { name, version: 1, dates: {}, weekend: [] } : undefined),
  { names: ['us-holidays'] },
)
const context = { now: NOW, timezone: 'Europe/Rome', calendars }

function again(old: When, when: When, ticksGone = 0) {
  return resolveReschedule(resolveWhen(old, context).rule, when, context, ticksGone)
}

describe('a reschedule', () => {
  const old: When = {
    cron: '0 9 * * *',
    start: '2026-11-01T00:00',
    end: '2027-11-01T00:00',
    count: 10,
    exclude: { calendars: 'us-holidays', move: 'next' },
    misfire: { all: { max: 5, within: '2h' } },
    jitter: '10m',
    dst: { gap: 'skip' },
  }

  it('replaces the rule and its bounds, and keeps exclude, misfire, jitter and dst if it does not set them', () => {
    const { rule, notes } = again(old, 'every monday at 8am')
    expect(rule).toEqual({
      kind: 'cron',
      cron: '0 8 * * 1',
      anchor: NOW,
      timezone: 'Europe/Rome',
      exclude: { calendars: ['us-holidays'], weekend: [6, 7], move: 'next' },
      misfire: { all: { max: 5, withinMs: 7_200_000 } },
      jitterMs: 600_000,
      dst: { gap: 'skip', overlap: 'first' },
      written: expect.stringMatching(/^every monday at 8am \{/),
    })
    expect(notes).toEqual([
      "read as 'every Monday at 08:00'",
      'still moved to the next working day (us-holidays, weekends)',
      'still each up to 10m later',
      'still skipping times that do not exist',
      'still missed ticks: all fire, at most 5 of the last 2h',
    ])
  })

  it('drops options that it sets to none', () => {
    const input = { cron: '0 8 * * *', exclude: [], misfire: 'once', jitter: '0s', dst: {} } as const
    const { rule, notes } = again(old, input)
    expect(rule).toEqual({
      kind: 'cron',
      cron: '0 8 * * *',
      anchor: NOW,
      timezone: 'Europe/Rome',
      misfire: 'once',
      dst: { gap: 'shift', overlap: 'first' },
    })
    expect(notes).toEqual([])
  })

  it.each<When>(['friday at 10am', { delay: '1h' }, new Date(NOW + 1), { at: '2027-01-01T09:00' }])(
    'does not make a recurring alarm fire once: %j',
    (when) => {
      for (const recurring of [{ cron: '0 9 * * 1-5' }, { every: '1h' }, 'every weekday at 9am'])
        expect(() => again(recurring, when)).toThrow(
          expect.objectContaining({
            code: 'invalid_request',
            message: expect.stringMatching(/recurs \(.*To move one occurrence, skip it.*cancel/),
          }),
        )
      expect(again({ delay: '2h' }, when).rule.kind).toBe('once')
    },
  )

  it('makes a recurring alarm of one that fires once', () => {
    expect(again({ delay: '1h' }, 'every day at 9am').rule.kind).toBe('cron')
  })

  it('keeps only misfire for a when that fires once', () => {
    const { rule, notes } = again({ delay: '1h', misfire: 'skip' }, { delay: '2h' })
    expect(rule).toMatchObject({ at: NOW + 7_200_000, misfire: 'skip' })
    expect(notes).toEqual(['still if missed: it does not fire'])
  })

  it('uses the days off of a phrase', () => {
    const { rule } = again({ cron: '0 9 * * *', exclude: 'weekends' }, 'every day at 9am except us-holidays')
    expect(rule).toMatchObject({ exclude: { calendars: ['us-holidays'] } })
    expect((rule as { exclude: object }).exclude).not.toHaveProperty('weekend')
  })

  it('keeps a stored exclusion without a weekend as it is', () => {
    const stored = { ...resolveWhen({ cron: '0 9 * * *' }, context).rule } as Extract<Rule, { kind: 'cron' }>
    const old: Rule = { ...stored, exclude: { calendars: ['us-holidays'], move: 'next' } }
    const { rule } = resolveReschedule(old, { cron: '0 8 * * *' }, context)
    expect(rule).toMatchObject({ cron: '0 8 * * *', exclude: { calendars: ['us-holidays'], move: 'next' } })
    expect((rule as typeof stored).exclude).not.toHaveProperty('weekend')
  })

  it('explains where days off come from that do not fit the new rule', () => {
    expect(() => again(old, { every: '1h' })).toThrow(/more than once a day.*`exclude: \[\]` drops them/)
    expect(again({ ...old, exclude: 'weekends' }, { every: '1h' }).rule).not.toHaveProperty('dst')
  })
})

describe('a reschedule by options alone', () => {
  it('changes only those, and not the rule, its bounds or its anchor', () => {
    const since = resolveWhen({ every: '7h', count: 10, jitter: '1m' }, { ...context, now: NOW - 3_600_000 })
    const { rule, first } = resolveReschedule(since.rule, { misfire: 'all', exclude: 'weekends' }, context, 3)
    expect(rule).toMatchObject({ every: '7h', count: 7, jitterMs: 60_000, exclude: { weekend: [6, 7] } })
    expect(first).toBe(NOW + 6 * 3_600_000)
    expect(again({ cron: '0 9 * * *', end: '2027-01-01T00:00' }, { jitter: '5m' }).rule).toMatchObject({
      cron: '0 9 * * *',
      end: Date.UTC(2026, 11, 31, 23),
      jitterMs: 300_000,
    })
  })

  it('moves a single instant off a day off, at the same wall-clock time', () => {
    const { rule } = again('2026-11-21T09:00', { exclude: { weekend: true, move: 'next' } })
    expect(rule).toMatchObject({ at: Date.UTC(2026, 10, 23, 8), wall: Date.UTC(2026, 10, 23, 9) })
  })
})
