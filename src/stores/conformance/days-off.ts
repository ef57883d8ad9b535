import assert from 'node:assert/strict'
import { type Context, recomputeInstants, type Serial, type Snapshot } from '../../alarm/index.ts'
import { casesOf } from './conformance-case.ts'
import { ANN, type Harness, OTHERS } from './harness.ts'

const DAY_MS = 86_400_000
const DAILY = { cron: '0 9 * * *', exclude: 'off' }

/** Calendars, and what their edits, and those of the zones' data, do to what is pending. */
export const daysOffCases = casesOf('days off', {
  async 'keeps calendars per tenant, with a version that grows with every edit'(harness) {
    const first = await put(harness, ['2030-01-02'])
    assert.deepEqual(harness.store.calendars('acme'), [first])
    assert.deepEqual(harness.store.calendars('zeta'), [])
    assert.equal((await put(harness, ['2030-01-02'])).version, first.version)
    const second = await put(harness, ['2030-01-03'])
    assert.ok(second.version > first.version)
    assert.deepEqual(harness.store.calendars('acme'), [second])
    assert.equal(await harness.store.removeCalendar('zeta', 'off'), false)
    assert.equal(await harness.store.removeCalendar('acme', 'off'), true)
    assert.deepEqual(harness.store.calendars('acme'), [])
    assert.ok((await put(harness, ['2030-01-04'])).version > 0)
  },

  async 'other processes see the current calendar'(harness) {
    const peer = await harness.peer()
    const first = await put(harness, ['2030-01-02'])
    await peer.readCalendars()
    assert.deepEqual(peer.calendars('acme'), [first])
  },

  async 'reads an alarm with the calendars that its rule names'(harness) {
    const calendar = await put(harness, ['2030-01-02'])
    const id = await harness.alarm(DAILY)
    const { alarm } = await harness.get(id)
    assert.deepEqual(alarm.calendars, [calendar])
    const edited = await put(harness, [])
    assert.deepEqual((await harness.get(id)).alarm.calendars, [edited])
  },

  async 'refuses an alarm whose instants were computed with an older calendar'(harness) {
    await put(harness, ['2030-01-02'])
    const request = harness.request(DAILY)
    await put(harness, ['2030-01-03'])
    await assert.rejects(harness.store.set([request], harness.context()), { code: 'conflict' })
    assert.equal((await harness.store.list(ANN, { order: 'newest', limit: 5 })).items.length, 0)
  },

  async 'does not delete a calendar that a live alarm of any owner names'(harness) {
    await put(harness, [])
    const [bob] = OTHERS
    const id = await harness.alarm(DAILY, {}, bob!)
    await assert.rejects(harness.store.removeCalendar('acme', 'off'), { code: 'conflict' })
    await harness.cancel(id, bob!)
    assert.equal(await harness.store.removeCalendar('acme', 'off'), true)
  },

  async 'keeps a timer’s own instant and zone offset as they were written'(harness) {
    const dates = [0, 1, 2].map((days) => new Date(harness.now + days * DAY_MS).toISOString().slice(0, 10))
    await put(harness, dates)
    const id = await harness.alarm({ ...DAILY, timezone: 'Asia/Tokyo' })
    const { timers } = await harness.get(id)
    assert.equal(timers[0]!.zoneOffset, 9 * 3_600_000)
    assert.ok(timers[0]!.nominal! < timers[0]!.scheduledFor)
    assert.equal((await harness.get(await harness.alarm({ every: '1h' }))).timers[0]!.zoneOffset, null)
  },

  async 'recomputes the alarms of all owners that name a tenant’s calendars, page by page, and no others'(
    harness,
  ) {
    await put(harness, [])
    const [bob, zeta] = OTHERS
    const ids = [await harness.alarm(DAILY), await harness.alarm(DAILY, {}, bob!), await harness.alarm(DAILY)]
    await harness.alarm({ cron: '0 9 * * *' })
    await harness.store.putCalendar('zeta', { name: 'off', dates: {}, weekend: [] }, harness.context())
    await harness.alarm(DAILY, {}, zeta!)
    const next = (await harness.get(ids[0]!)).timers[0]!.scheduledFor
    await put(harness, [new Date(next).toISOString().slice(0, 10)])
    assert.deepEqual(
      (await harness.store.calendarsToRecompute()).map(({ tenant, name }) => [tenant, name]),
      [['acme', 'off']],
    )
    assert.deepEqual((await recomputeAll(harness, { calendarsOf: 'acme' })).sort(), [...ids].sort())
    for (const [index, id] of ids.entries()) {
      const { timers } = await harness.get(id, index === 1 ? bob! : ANN)
      assert.equal(timers[0]!.scheduledFor, next + DAY_MS)
      assert.equal(timers[0]!.wakeAt, next + DAY_MS)
    }
    const [calendar] = harness.store.calendars('acme')
    await harness.store.markCalendarRecomputed('acme', calendar!)
    assert.deepEqual(await harness.store.calendarsToRecompute(), [])
  },

  async 'recomputes alarms whose instants depend on a zone, and no others'(harness) {
    const ids = [
      await harness.alarm({ cron: '0 9 * * *', timezone: 'Europe/Rome' }),
      await harness.alarm({ at: '2031-06-01T09:00', timezone: 'Europe/Rome' }),
    ]
    await harness.alarm({ every: '1h' })
    await harness.alarm({ at: '2031-06-01T09:00:00+02:00', timezone: 'Europe/Rome' })
    assert.deepEqual((await recomputeAll(harness, { zoned: true })).sort(), [...ids].sort())
  },

  async 'stores metadata about itself'(harness) {
    assert.equal(await harness.store.getMeta('colour'), null)
    await harness.store.putMeta('colour', 'blue')
    await harness.store.putMeta('colour', 'green')
    assert.equal(await harness.store.getMeta('colour'), 'green')
  },
})

function put(harness: Harness, dates: readonly string[]) {
  const days = Object.fromEntries(dates.map((date) => [date, '']))
  return harness.store.putCalendar('acme', { name: 'off', dates: days, weekend: [] }, harness.context())
}

/** Computes all again, two at a time; answers the ids that were looked at. */
async function recomputeAll(
  harness: Harness,
  which: { calendarsOf: string } | { zoned: true },
): Promise<string[]> {
  const seen: string[] = []
  const decide = (context: Context) => (snapshot: Snapshot) => {
    seen.push(snapshot.alarm.id)
    return recomputeInstants(snapshot, context)
  }
  for (let after: Serial | null = 0; after !== null; ) {
    const context = harness.context()
    after = (await harness.store.recomputeInstants({ ...which, after, limit: 2 }, decide(context), context))
      .next
  }
  return seen
}
