import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { DeclaredAlarm, Fire, Wakeful } from '../../src/index.ts'
import { openTest, type TestBench, VirtualClock } from '../../src/testing/index.ts'

/** Programs that declare their alarms at every start, as users of other schedulers do, on a file that they share. */
const dir = mkdtempSync(join(tmpdir(), 'wakeful-boot-'))
afterAll(() => rmSync(dir, { recursive: true }))

const open: TestBench[] = []
afterEach(async () => {
  for (const bench of open.splice(0)) await bench.close()
})

let files = 0
const newStore = () => `sqlite:${join(dir, `${++files}.db`)}`

interface Program {
  readonly bench: TestBench
  readonly wakeful: Wakeful
  readonly fired: string[]
}

async function start(store: string, clock: VirtualClock, declare: (wakeful: Wakeful) => Promise<unknown>) {
  const bench = await openTest({ store, clock })
  open.push(bench)
  const { wakeful } = bench
  const fired: string[] = []
  wakeful.handle('tick', ({ occurrence, payload }: Fire) => {
    fired.push(
      `${occurrence.scheduledFor.toISOString().slice(11, 16)} ${typeof payload === 'string' ? payload : ''}`.trim(),
    )
  })
  await declare(wakeful)
  await wakeful.start()
  await clock.advance(0)
  return { bench, wakeful, fired } satisfies Program
}

async function recordsOf(wakeful: Wakeful): Promise<string[]> {
  const types: string[] = []
  for await (const { type, data } of wakeful.events())
    types.push(type === 'alarm.skipped' ? `${type} ${data.reason} ${data.count}` : type)
  return types
}

const HOURLY = { cron: '0 * * * *' }
const hourly = (wakeful: Wakeful) => wakeful.set(HOURLY, { key: 'hourly', target: 'tick' })

describe('a program that sets its alarms at every start', () => {
  it('fires what came due while it was down, once, and records the rest', async () => {
    const [store, clock] = [newStore(), new VirtualClock('2030-01-01T00:30:00Z')]
    const first = await start(store, clock, hourly)
    first.bench.crash()
    await clock.advanceTo(new Date('2030-01-01T03:20:00Z'))
    const second = await start(store, clock, async (wakeful) => {
      expect(await hourly(wakeful)).toMatchObject({ unchanged: true })
    })
    await clock.advanceTo(new Date('2030-01-01T04:00:00Z'))
    expect(second.fired).toEqual(['03:00', '04:00'])
    expect(await recordsOf(second.wakeful)).toEqual(['alarm.skipped misfire 2', 'alarm.fired', 'alarm.fired'])
  })

  it('fires what came due although the new version defines the alarm in another way', async () => {
    const [store, clock] = [newStore(), new VirtualClock('2030-01-01T00:30:00Z')]
    const first = await start(store, clock, hourly)
    first.bench.crash()
    await clock.advanceTo(new Date('2030-01-01T03:20:00Z'))
    const second = await start(store, clock, async (wakeful) => {
      const when = { cron: '45 * * * *', misfire: 'all' } as const
      const set = await wakeful.set(when, { key: 'hourly', target: 'tick', payload: 'new' })
      expect(set).toMatchObject({ replaced: true })
    })
    await clock.advanceTo(new Date('2030-01-01T04:00:00Z'))
    expect(second.fired).toEqual(['03:00 new', '03:45 new'])
  })

  it('leaves a pause, and a retry that waits, as they are', async () => {
    const [store, clock] = [newStore(), new VirtualClock('2030-01-01T00:30:00Z')]
    const { wakeful } = await start(store, clock, hourly)
    const { id, updatedAt } = (await wakeful.getByKey('hourly'))!
    await wakeful.pause(id)
    await clock.advance('3h')
    expect(await hourly(wakeful)).toMatchObject({ status: 'paused', unchanged: true })
    const changed = await wakeful.set({ cron: '5 * * * *' }, { key: 'hourly', target: 'tick' })
    expect(changed).toMatchObject({ status: 'paused', replaced: true })
    expect(await wakeful.set(HOURLY, { key: 'hourly', target: 'tick', paused: false })).toMatchObject({
      status: 'active',
      replaced: true,
    })
    expect(await recordsOf(wakeful)).toContain('alarm.skipped paused 3')
    expect((await wakeful.getByKey('hourly'))!.updatedAt.getTime()).toBeGreaterThan(updatedAt.getTime())
    await expect(hourlyWith(wakeful, { paused: true })).rejects.toThrow('`paused` can only be false')
  })

  it('changes nothing with a webhook that has secret headers', async () => {
    const [store, clock] = [newStore(), new VirtualClock()]
    const webhook = { webhook: 'https://example.com/x', headers: { authorization: 'Bearer 1' } }
    const set = async (wakeful: Wakeful, target: object) =>
      (await wakeful.set(HOURLY, { key: 'hook', target: { ...target } })).unchanged === true
    const { bench } = await start(store, clock, (wakeful) => set(wakeful, webhook))
    await bench.close()
    const { wakeful } = await start(store, clock, async () => {})
    expect(await set(wakeful, webhook)).toBe(true)
    expect(await set(wakeful, { ...webhook, headers: { authorization: 'Bearer 2' } })).toBe(false)
  })

  it('is the same in a caller’s transaction and in a batch', async () => {
    const { wakeful } = await start(newStore(), new VirtualClock(), hourly)
    const answers = await wakeful.setMany([
      { when: HOURLY, key: 'hourly', target: 'tick' },
      { when: HOURLY, key: 'hourly', target: 'tick', label: 'other' },
      { when: HOURLY, key: 'hourly', target: 'tick', label: 'other', paused: false },
    ])
    expect(answers.map(({ unchanged, replaced }) => [unchanged, replaced])).toEqual([
      [true, undefined],
      [undefined, true],
      [true, undefined],
    ])
  })
})

function hourlyWith(wakeful: Wakeful, options: object) {
  return wakeful.set(HOURLY, { key: 'hourly', target: 'tick', ...options })
}

describe('apply', () => {
  const item = (key: string, more: object = {}) => ({ key, when: HOURLY, target: 'tick', ...more })

  it('creates, changes and leaves alarms, and tells which, at every start', async () => {
    const { wakeful } = await start(newStore(), new VirtualClock(), async () => {})
    expect(await wakeful.apply([item('a'), item('b')])).toEqual({
      created: ['a', 'b'],
      changed: [],
      unchanged: [],
      removed: [],
    })
    expect(await wakeful.apply([item('a'), item('b', { label: 'new' }), item('c')])).toEqual({
      created: ['c'],
      changed: ['b'],
      unchanged: ['a'],
      removed: [],
    })
    expect(await wakeful.apply([])).toEqual({ created: [], changed: [], unchanged: [], removed: [] })
    expect((await wakeful.list({ status: 'active' })).items).toHaveLength(3)
  })

  it('removes with prune what an earlier list of its name declared, and nothing else', async () => {
    const { wakeful } = await start(newStore(), new VirtualClock(), async () => {})
    await wakeful.set(HOURLY, { key: 'mine', target: 'tick' })
    await wakeful.set(HOURLY, { target: 'tick' })
    await wakeful.forTenant('default', 'ann').apply([item('theirs')])
    await wakeful.apply([item('a'), item('b')])
    await wakeful.apply([item('x')], { name: 'billing' })
    expect(await wakeful.apply([item('b')])).toMatchObject({ removed: [] })
    expect(await wakeful.apply([item('b')], { prune: true })).toMatchObject({ removed: ['a'] })
    expect(await wakeful.apply([item('b')], { prune: true })).toMatchObject({ removed: [], unchanged: ['b'] })
    expect(await wakeful.apply([], { name: 'billing', prune: true })).toMatchObject({ removed: ['x'] })
    const { items } = await wakeful.list({ status: 'active' })
    expect(items.map(({ key, declaredBy }) => [key, declaredBy])).toEqual([
      ['b', 'default'],
      [null, null],
      ['mine', null],
    ])
    expect((await wakeful.forTenant('default', 'ann').getByKey('theirs'))!.status).toBe('active')
    // What it removed can be declared again, and what a user sets anew is the user's.
    expect(await wakeful.apply([item('a')])).toMatchObject({ created: ['a'], changed: [] })
    await wakeful.set(HOURLY, { key: 'x', target: 'tick' })
    expect(await wakeful.apply([], { name: 'billing', prune: true })).toMatchObject({ removed: [] })
  })

  it('leaves alone what a user changed since, until a list declares it again', async () => {
    const { wakeful } = await start(newStore(), new VirtualClock(), async () => {})
    await wakeful.apply([item('a'), item('b')])
    await wakeful.set(HOURLY, { key: 'a', target: 'tick' })
    await wakeful.set({ every: '3h' }, { key: 'b', target: 'tick' })
    expect((await wakeful.getByKey('b'))!.declaredBy).toBeNull()
    expect(await wakeful.apply([], { prune: true })).toMatchObject({ removed: ['a'] })
    expect(await wakeful.apply([item('b')])).toMatchObject({ changed: ['b'] })
    expect(await wakeful.apply([], { prune: true })).toMatchObject({ removed: ['b'] })
  })

  it('does not fire a one-shot, or a rule that has run out, a second time', async () => {
    const clock = new VirtualClock('2030-01-01T00:30:00Z')
    const when = new Date('2030-01-01T01:00:00Z')
    const list = [item('once', { when }), item('twice', { when: { every: '10m', count: 2 } })]
    const { wakeful, fired } = await start(newStore(), clock, (each) => each.apply(list))
    await clock.advance('1h')
    expect(fired).toHaveLength(3)
    expect(await wakeful.apply(list)).toMatchObject({ unchanged: ['once', 'twice'] })
    await clock.advance('1h')
    expect(fired).toHaveLength(3)
    expect(await wakeful.set(when, { key: 'once', target: 'tick' })).toMatchObject({
      replaced: true,
    })
    await clock.advance('1m')
    expect(fired).toHaveLength(4)
  })

  it('needs a key of its own for each alarm, and writes all or nothing', async () => {
    const { wakeful } = await start(newStore(), new VirtualClock(), async () => {})
    const apply = (items: object[], options = {}) => wakeful.apply(items as [], options)
    for (const [items, reason] of [
      [[item('a'), item('a')], 'The list has `items[1].key` "a" twice'],
      [[item('a'), { when: HOURLY, target: 'tick' }], '`items[1].key` is missing'],
      [[item('a'), item('')], '`items[1].key` is empty'],
      [[item('a'), item('b', { when: { cron: 'x' } })], 'items[1]'],
      [[item('a', { idempotencyKey: 'i' })], 'idempotencyKey'],
    ] as const)
      await expect(apply([...items])).rejects.toThrow(reason)
    await expect(apply([], { name: '' })).rejects.toThrow('`name` is empty')
    await expect(apply([], { prune: 1 })).rejects.toThrow('`prune` must be true or false')
    expect((await wakeful.stats()).total).toBe(0)
  })
})

describe('a list that is declared every day', () => {
  const firedBy = async (items: DeclaredAlarm[], days: number, from = '2030-01-01T06:00:00Z') => {
    const clock = new VirtualClock(from)
    const fired: Record<string, string[]> = Object.fromEntries(items.map(({ key }) => [key, []]))
    const bench = await openTest({ clock, retention: '1d' })
    open.push(bench)
    bench.wakeful.handle('tick', ({ alarm, occurrence }: Fire) => {
      fired[alarm.key!]!.push(occurrence.scheduledFor.toISOString().slice(0, 10))
    })
    await bench.wakeful.start()
    for (let day = 0; day < days; day++) {
      const { created, changed } = await bench.wakeful.apply(items)
      if (day > 0) expect({ day, created, changed }).toEqual({ day, created: [], changed: [] })
      await clock.advance('1 day')
    }
    return fired
  }

  it('keeps the days of phrases that count from the first', async () => {
    const times = {
      'every other tuesday at 9am': 5,
      'every 3 days at 9am': 24,
      weekly: 10,
      'every day at 9am starting tomorrow': 69,
    }
    const items = Object.keys(times).map((when) => ({ key: when, when, target: 'tick' }))
    const fired = await firedBy(items, 70)
    expect(Object.fromEntries(Object.entries(fired).map(([when, days]) => [when, days.length]))).toEqual(
      times,
    )
  })

  it('takes phrases of every month on the 31st, and keeps their day', async () => {
    const items = ['monthly', 'every month at 5am'].map((when) => ({ key: when, when, target: 'tick' }))
    expect(await firedBy(items, 32, '2030-01-31T06:00:00Z')).toEqual({
      monthly: ['2030-01-31', '2030-02-28'],
      'every month at 5am': ['2030-02-28'],
    })
  })

  it('never fires a one-shot again, also when its log is old', async () => {
    const once = { key: 'k', when: '2030-01-02T00:00:00Z', target: 'tick' }
    expect(await firedBy([once], 6)).toEqual({ k: ['2030-01-02'] })
  })

  it('keeps the alarm of a rule that is over for the list that declares it now, whoever set it', async () => {
    const clock = new VirtualClock('2030-01-01T06:00:00Z')
    const bench = await openTest({ clock, retention: '1d' })
    open.push(bench)
    const { wakeful } = bench
    wakeful.handle('tick', () => {})
    await wakeful.start()
    const when = 'every day at 9am until 2030-01-03'
    const item = { key: 'k', when, target: 'tick' }
    await wakeful.set(when, { key: 'k', target: 'tick', message: 'changed by an operator' })
    await clock.advance('66h')
    for (const name of ['one', 'two', 'two']) {
      expect((await wakeful.apply([item], { name })).unchanged).toEqual(['k'])
      if (name === 'two') await wakeful.apply([], { name: 'one', prune: true })
      await clock.advance('4 days')
    }
    expect((await wakeful.getByKey('k'))?.declaredBy).toBe('two')
  })

  it('does not fire a one-shot again that an operator has moved', async () => {
    const clock = new VirtualClock('2030-01-01T06:00:00Z')
    const bench = await openTest({ clock })
    open.push(bench)
    const { wakeful } = bench
    let fired = 0
    wakeful.handle('tick', () => {
      fired += 1
    })
    await wakeful.start()
    const list = [{ key: 'k', when: '2030-01-01T07:00:00Z', target: 'tick' }]
    await wakeful.apply(list)
    await wakeful.reschedule({ key: 'k' }, '2030-01-01T08:00:00Z')
    await clock.advance('3h')
    expect((await wakeful.apply(list)).unchanged).toEqual(['k'])
    await clock.advance('1h')
    expect(fired).toBe(1)
  })

  it('lets retention delete what has ended and leaves the list', async () => {
    const clock = new VirtualClock('2030-01-01T06:00:00Z')
    const bench = await openTest({ clock, retention: '1d' })
    open.push(bench)
    const { wakeful } = bench
    wakeful.handle('tick', () => {})
    await wakeful.start()
    const one = (key: string) => ({ key, when: '2030-01-02T00:00:00Z', target: 'tick' })
    await wakeful.apply([one('fired'), one('cancelled'), one('stays')])
    await wakeful.cancel({ key: 'cancelled' })
    await clock.advance('10 days')
    const left = await wakeful.apply([one('stays')], { prune: true })
    expect(left).toMatchObject({ unchanged: ['stays'], removed: [] })
    const { id } = (await wakeful.getByKey('fired'))!
    const story = (await wakeful.why(id)).story.map(({ text }) => text)
    expect(story.at(-1)).toBe('left the list default that declared it: retention may delete it')
    await clock.advance('3 days')
    const keys = (await wakeful.list()).items.map(({ key }) => key)
    expect(keys).toEqual(['stays'])
  })

  it.each([
    ['every day at 9am until 2030-01-03'],
    [{ cron: '0 9 * * *', end: '2030-01-03T23:00:00Z' }],
    [{ rrule: 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0;UNTIL=20300103T230000Z' }],
    [{ rrule: 'DTSTART:20300101T090000Z\nRRULE:FREQ=DAILY;COUNT=3' }],
    [{ cron: '0 9 * * *', end: '2030-01-06T23:00:00Z', exclude: { weekend: ['fri', 'sat', 'sun'] } }],
  ])('leaves the alarm of a rule that is over as it is: %j', async (when) => {
    const days = await firedBy([{ key: 'k', when, target: 'tick' }], 6)
    expect(days).toEqual({ k: ['2030-01-01', '2030-01-02', '2030-01-03'] })
  })

  it('refuses a rule that is over, if its alarm is defined in another way or there is none', async () => {
    const clock = new VirtualClock('2030-01-01T06:00:00Z')
    const bench = await openTest({ clock })
    open.push(bench)
    const { wakeful } = bench
    await wakeful.apply([{ key: 'k', when: 'every day at 9am', target: 'tick' }])
    const ended = { when: 'every day at 9am until 2020-01-01', target: 'tick' }
    const other = { key: 'other', when: 'every hour', target: 'tick' }
    await expect(wakeful.apply([other, { key: 'k', ...ended }])).rejects.toMatchObject({
      reason: 'rule.outside_bounds',
      field: 'items[1].end',
    })
    await expect(wakeful.apply([{ key: 'new', ...ended }])).rejects.toThrow('never fires')
    expect(await wakeful.getByKey('other')).toBeNull()
  })

  it('leaves a snoozed one-shot where it is, and sets what was removed from the list anew', async () => {
    const clock = new VirtualClock('2030-01-01T00:00:00Z')
    const bench = await openTest({ clock })
    open.push(bench)
    const { wakeful } = bench
    let fired = 0
    wakeful.handle('tick', () => {
      fired += 1
    })
    await wakeful.start()
    const list = [{ key: 'k', when: { at: '2030-01-01T01:00:00Z' }, target: 'tick' }]
    await wakeful.apply(list)
    await wakeful.snooze({ key: 'k' }, { at: '2030-01-01T02:00:00Z' })
    expect((await wakeful.apply(list)).unchanged).toEqual(['k'])
    await clock.advance('3h')
    expect((await wakeful.apply(list)).unchanged).toEqual(['k'])
    expect(fired).toBe(1)
    const later = [{ key: 'later', when: { at: '2030-01-02T00:00:00Z' }, target: 'tick' }]
    await wakeful.apply(later, { name: 'b' })
    expect((await wakeful.apply([], { name: 'b', prune: true })).removed).toEqual(['later'])
    expect((await wakeful.apply(later, { name: 'b' })).created).toEqual(['later'])
  })
})

it('a second, longer snooze skips what comes before its end, as a first one does', async () => {
  const clock = new VirtualClock('2030-01-01T00:30:00Z')
  const bench = await openTest({ clock })
  open.push(bench)
  const { wakeful } = bench
  const fired: string[] = []
  wakeful.handle('tick', ({ firedAt }: Fire) => {
    fired.push(firedAt.toISOString().slice(11, 16))
  })
  await wakeful.start()
  const { id } = await wakeful.set(HOURLY, { target: 'tick' })
  await wakeful.snooze(id, '10m')
  await wakeful.snooze(id, '50m')
  await clock.advance('2h')
  expect(fired).toEqual(['01:20', '02:00'])
})
