import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { Fire, Wakeful } from '../../src/index.ts'
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
