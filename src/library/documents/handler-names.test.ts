import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { open, type Wakeful } from '../../index.ts'
import { openTest } from '../../testing/index.ts'

const dir = mkdtempSync(join(tmpdir(), 'wakeful-names-'))
afterAll(() => rmSync(dir, { recursive: true }))

/** Both stores: what one process has registered must be known to the others. */
const STORES = [
  ['SQLite', () => `sqlite:${join(dir, 'alarms.db')}`],
  ['PostgreSQL', () => `${inject('postgres')}postgres?schema=names_${randomUUID().slice(0, 8)}`],
] as const

const wrong = (wakeful: Wakeful, target: unknown) =>
  wakeful.set('in 1 hour', { target: target as string }).then(
    ({ notes }) => notes,
    (thrown: { reason: string; params: { near?: string }; field: string }) =>
      `${thrown.field}: ${thrown.reason} ${thrown.params.near ?? ''}`.trim(),
  )

describe('a target that is a name alone', () => {
  it.each([
    ['inboxx', 'target: target.misspelt inbox'],
    ['inbxo', 'target: target.misspelt inbox'],
    ['Inbox', 'target: target.misspelt inbox'],
    ['event', 'target: target.misspelt event'],
    ['defualt', 'target: target.misspelt default'],
    ['remnd', 'target: target.misspelt remind'],
    ['reminder', 'target: target.misspelt remind'],
    ['https//app.example.com', 'target: target.like_url'],
    ['https://app.example.com', 'target: target.like_url'],
    ['app.example.com//wake', 'target: target.like_url'],
    ['HTTP', 'target: target.like_url'],
  ])('%s is refused where it is surely a mistake', async (target, refused) => {
    const { wakeful, close } = await openTest()
    wakeful.handle('remind', () => {})
    expect(await wrong(wakeful, target)).toBe(refused)
    expect((await wakeful.stats()).total).toBe(0)
    await close()
  })

  it('is refused at every call that takes one, with its field', async () => {
    const { wakeful, close } = await openTest()
    wakeful.handle('remind', () => {})
    const { id } = await wakeful.set('in 1 hour', { target: 'remind', key: 'k' })
    const bad = { target: 'inboxx' }
    const field = (of: string) => expect.objectContaining({ reason: 'target.misspelt', field: of })
    await expect(wakeful.set('in 1 hour', { ...bad, key: 'k' })).rejects.toEqual(field('target'))
    await expect(
      wakeful.setMany([
        { when: 'in 1 hour', target: 'remind' },
        { when: 'in 1 hour', ...bad },
      ]),
    ).rejects.toEqual(field('items[1].target'))
    await expect(wakeful.edit(id, bad)).rejects.toEqual(field('target'))
    await expect(wakeful.edit(id, { onFailure: 'remnd' })).rejects.toEqual(field('onFailure'))
    await expect(wakeful.set('in 1 hour', { target: 'remind', onFailure: 'remnd' })).rejects.toEqual(
      field('onFailure'),
    )
    await expect(wakeful.defaultTarget.put('inboxx')).rejects.toEqual(field('target'))
    expect((await wakeful.stats()).total).toBe(1)
    await close()
  })

  it('is taken if it differs from a registered one only by its number', async () => {
    const { wakeful, close } = await openTest()
    wakeful.handle('worker1', () => {})
    expect(await wrong(wakeful, 'worker2')).toEqual([
      expect.stringContaining('had registered the handler worker2'),
    ])
    expect(await wrong(wakeful, 'woker1')).toBe('target: target.misspelt worker1')
    await close()
  })

  it('is taken with a note if no process has registered it, and without one if a process has', async () => {
    const { wakeful, close } = await openTest()
    wakeful.handle('remind', () => {})
    const unknown = (name: string) => expect.stringContaining(`had registered the handler ${name}`)
    expect(await wrong(wakeful, 'remind')).toEqual([])
    expect(await wrong(wakeful, 'invoice')).toEqual([unknown('invoice')])
    for (const short of ['a', 'ab', 'xy']) expect(await wrong(wakeful, short)).toEqual([unknown(short)])
    for (const spec of [{ handler: 'inboxx' }, { handler: 'remnd' }, 'inbox', { event: true }])
      expect(await wrong(wakeful, spec)).toEqual([])
    wakeful.handle('invoice', () => {})
    expect(await wrong(wakeful, 'invoice')).toEqual([])
    await close()
  })

  it('keeps its note over edits until the target changes', async () => {
    const { wakeful, close } = await openTest()
    wakeful.handle('remind', () => {})
    const { id, notes } = await wakeful.set('in 1 hour', { target: 'invoice', onFailure: 'elsewhere' })
    expect(notes).toHaveLength(2)
    expect((await wakeful.edit(id, { label: 'x' })).notes).toEqual(notes)
    expect((await wakeful.reschedule(id, 'in 2 hours')).notes).toEqual(notes)
    expect((await wakeful.edit(id, { target: 'remind' })).notes).toEqual([notes[1]])
    expect((await wakeful.edit(id, { target: 'receipt', when: 'in 3 hours' })).notes).toEqual([
      expect.stringContaining('receipt'),
      notes[1],
    ])
    expect((await wakeful.edit(id, { target: 'remind', onFailure: 'remind' })).notes).toEqual([])
    await close()
  })

  it.each(STORES)(
    'is known once another process has registered it, also after that is gone, on %s',
    async (_, newStore) => {
      const at = newStore()
      const running = await open(at)
      const other = await open(at)
      const elsewhere = await open(at, { pool: 'elsewhere' })
      try {
        expect(await wrong(other, 'invoice')).toHaveLength(1)
        running.handle('invoice', () => {})
        await running.start()
        running.handle('receipt', () => {})
        // The names are at most half a second old in another process.
        await expect.poll(() => wrong(other, 'invoice'), { timeout: 30_000 }).toEqual([])
        await expect.poll(() => wrong(other, 'receipt'), { timeout: 30_000 }).toEqual([])
        expect(await wrong(other, 'reciept')).toBe('target: target.misspelt receipt')
        await running.close()
        expect(await wrong(other, 'invoice')).toEqual([])
        expect(await wrong(elsewhere, 'invoice'), 'it is of another pool').toHaveLength(1)
      } finally {
        for (const each of [running, other, elsewhere]) await each.close()
      }
    },
  )
})

describe('an alarm that is due without its handler', () => {
  it('is reported after a minute, once an hour, until a process registers it', async () => {
    const warnings: string[] = []
    const { wakeful, clock, close } = await openTest({
      onError: (thrown) => void warnings.push((thrown as Error).message),
    })
    await wakeful.start()
    await wakeful.set('in 1 second', { target: 'invoice' })
    await wakeful.set('in 1 second', { target: 'invoice' })
    await clock.advance('59s')
    expect(warnings).toEqual([])
    await clock.advance('2m')
    const named = expect.stringMatching(
      /no process of pool app has registered the handler invoice, .*due since/,
    )
    expect(warnings).toEqual([named])
    const { pools } = await wakeful.operator.readings()
    expect(pools.find(({ pool }) => pool === 'app')?.withoutHandlerMs).toBeGreaterThan(100_000)
    await clock.advance('1h')
    expect(warnings).toEqual([named, named])
    wakeful.handle('invoice', () => {})
    await clock.advance('2h')
    expect(warnings).toHaveLength(2)
    expect((await wakeful.operator.readings()).pools.map(({ withoutHandlerMs }) => withoutHandlerMs)).toEqual(
      [0, 0],
    )
    await close()
  })

  it('is reported by a server whose store has no process of its pool', async () => {
    const warnings: string[] = []
    const { wakeful, clock, close } = await openTest({
      pool: 'cli',
      namesPool: 'app',
      onError: (thrown) => void warnings.push((thrown as Error).message),
    })
    await wakeful.start()
    await wakeful.set('in 1 second', { target: 'invoice' })
    await clock.advance('3m')
    expect(warnings).toEqual([
      expect.stringMatching(/no process serves pool app, whose alarms are due since/),
    ])
    await close()
  })
})
