import assert from 'node:assert/strict'
import { type Context, review, type Serial, type Snapshot } from '../../alarm/index.ts'
import { ANN, type Bench, OTHERS } from './bench.ts'
import { casesOf } from './conformance-case.ts'

const DAY_MS = 86_400_000
const DAILY = { cron: '0 9 * * *', exclude: 'off' }

/** Calendars, and what their edits, and those of the zones' data, do to what is pending. */
export const daysOffCases = casesOf('days off', {
  async 'keeps calendars per tenant, with a version that grows with every edit'(bench) {
    const first = await put(bench, ['2030-01-02'])
    assert.deepEqual(bench.store.calendars('acme'), [first])
    assert.deepEqual(bench.store.calendars('zeta'), [])
    assert.equal((await put(bench, ['2030-01-02'])).version, first.version)
    const second = await put(bench, ['2030-01-03'])
    assert.ok(second.version > first.version)
    assert.deepEqual(bench.store.calendars('acme'), [second])
    assert.equal(await bench.store.removeCalendar('zeta', 'off'), false)
    assert.equal(await bench.store.removeCalendar('acme', 'off'), true)
    assert.deepEqual(bench.store.calendars('acme'), [])
    assert.ok((await put(bench, ['2030-01-04'])).version > 0)
  },

  async 'is seen by others as it stands'(bench) {
    const peer = await bench.peer()
    const first = await put(bench, ['2030-01-02'])
    await peer.readCalendars()
    assert.deepEqual(peer.calendars('acme'), [first])
  },

  async 'reads an alarm with the calendars that its rule names'(bench) {
    const calendar = await put(bench, ['2030-01-02'])
    const id = await bench.alarm(DAILY)
    const { alarm } = await bench.get(id)
    assert.deepEqual(alarm.calendars, [calendar])
    const edited = await put(bench, [])
    assert.deepEqual((await bench.get(id)).alarm.calendars, [edited])
  },

  async 'refuses an alarm whose instants were found with an older calendar'(bench) {
    await put(bench, ['2030-01-02'])
    const request = bench.request(DAILY)
    await put(bench, ['2030-01-03'])
    await assert.rejects(bench.store.set([request], bench.context()), { code: 'conflict' })
    assert.equal((await bench.store.list(ANN, { order: 'newest', limit: 5 })).items.length, 0)
  },

  async 'keeps a calendar that a live alarm names, whoever’s it is'(bench) {
    await put(bench, [])
    const [bob] = OTHERS
    const id = await bench.alarm(DAILY, {}, bob!)
    await assert.rejects(bench.store.removeCalendar('acme', 'off'), { code: 'conflict' })
    await bench.cancel(id, bob!)
    assert.equal(await bench.store.removeCalendar('acme', 'off'), true)
  },

  async 'keeps a timer’s own instant and zone offset as they were written'(bench) {
    const dates = [0, 1, 2].map((days) => new Date(bench.now + days * DAY_MS).toISOString().slice(0, 10))
    await put(bench, dates)
    const id = await bench.alarm({ ...DAILY, timezone: 'Asia/Tokyo' })
    const { timers } = await bench.get(id)
    assert.equal(timers[0]!.zoneOffset, 9 * 3_600_000)
    assert.ok(timers[0]!.nominal! < timers[0]!.scheduledFor)
    assert.equal((await bench.get(await bench.alarm({ every: '1h' }))).timers[0]!.zoneOffset, null)
  },

  async 'reviews what names a tenant’s calendars, in steps, whoever’s it is, and no other'(bench) {
    await put(bench, [])
    const [bob, zeta] = OTHERS
    const ids = [await bench.alarm(DAILY), await bench.alarm(DAILY, {}, bob!), await bench.alarm(DAILY)]
    await bench.alarm({ cron: '0 9 * * *' })
    await bench.store.putCalendar('zeta', { name: 'off', dates: {}, weekend: [] }, bench.context())
    await bench.alarm(DAILY, {}, zeta!)
    const next = (await bench.get(ids[0]!)).timers[0]!.scheduledFor
    await put(bench, [new Date(next).toISOString().slice(0, 10)])
    assert.deepEqual(
      (await bench.store.unreviewedCalendars()).map(({ tenant, name }) => [tenant, name]),
      [['acme', 'off']],
    )
    assert.deepEqual((await reviewAll(bench, { calendarsOf: 'acme' })).sort(), [...ids].sort())
    for (const [index, id] of ids.entries()) {
      const { timers } = await bench.get(id, index === 1 ? bob! : ANN)
      assert.equal(timers[0]!.scheduledFor, next + DAY_MS)
      assert.equal(timers[0]!.wakeAt, next + DAY_MS)
    }
    const [calendar] = bench.store.calendars('acme')
    await bench.store.calendarReviewed('acme', calendar!)
    assert.deepEqual(await bench.store.unreviewedCalendars(), [])
  },

  async 'reviews what stands on a wall clock, and nothing else'(bench) {
    const ids = [
      await bench.alarm({ cron: '0 9 * * *', timezone: 'Europe/Rome' }),
      await bench.alarm({ at: '2031-06-01T09:00', timezone: 'Europe/Rome' }),
    ]
    await bench.alarm({ every: '1h' })
    await bench.alarm({ at: '2031-06-01T09:00:00+02:00', timezone: 'Europe/Rome' })
    assert.deepEqual((await reviewAll(bench, { zoned: true })).sort(), [...ids].sort())
  },

  async 'keeps facts about itself'(bench) {
    assert.equal(await bench.store.getMeta('colour'), null)
    await bench.store.putMeta('colour', 'blue')
    await bench.store.putMeta('colour', 'green')
    assert.equal(await bench.store.getMeta('colour'), 'green')
  },
})

function put(bench: Bench, dates: readonly string[]) {
  const days = Object.fromEntries(dates.map((date) => [date, '']))
  return bench.store.putCalendar('acme', { name: 'off', dates: days, weekend: [] }, bench.context())
}

/** Reviews all, two at a time; answers the ids that were looked at. */
async function reviewAll(bench: Bench, which: { calendarsOf: string } | { zoned: true }): Promise<string[]> {
  const seen: string[] = []
  const decide = (context: Context) => (snapshot: Snapshot) => {
    seen.push(snapshot.alarm.id)
    return review(snapshot, context)
  }
  for (let after: Serial | null = 0; after !== null; ) {
    const context = bench.context()
    after = (await bench.store.review({ ...which, after, limit: 2 }, decide(context), context)).next
  }
  return seen
}
