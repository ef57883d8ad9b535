import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { open, WakefulError } from '../index.ts'
import { openTest, type TestBench } from '../testing/index.ts'

let bench: TestBench
let id: string

beforeAll(async () => {
  bench = await openTest()
  id = (await bench.wakeful.set('in 1 hour', { target: 'x' })).id
})
afterAll(() => bench.close())

/** Calls as JavaScript users make them, without the compiler's help. */
type Loose = Record<string, (...args: unknown[]) => unknown>
const loose = () => bench.wakeful as unknown as Loose

const BELONGS_IN_WHEN = ['exclude', 'misfire', 'jitter', 'dst', 'start', 'end', 'count']

it.each(BELONGS_IN_WHEN)('says that %s belongs in the when', async (name) => {
  const set = async () => loose().set!('every day at 9am', { target: 'x', [name]: 'weekends' })
  await expect(set()).rejects.toThrow(
    `\`${name}\` belongs inside the first argument of set: { at: 'every day at 9am', ${name}`,
  )
})

it('suggests the option that was probably meant', async () => {
  const lable = /Unknown option "lable"\. Did you mean `label`\?/
  await expect(loose().set!('in 1 hour', { target: 'x', lable: 'x' })).rejects.toThrow(lable)
  await expect(loose().setMany!([{ when: 'in 1 hour', target: 'x', lable: 'x' }])).rejects.toThrow(lable)
  expect(() => loose().edit!(id, { lable: 'x' })).toThrow(lable)
})

const WRONG: readonly [string, readonly unknown[]][] = [
  ['set', ['in 1 hour', null]],
  ['set', ['in 1 hour', 'x']],
  ['set', ['in 1 hour', { target: 'x', lable: 'typo' }]],
  ['set', ['in 1 hour', { target: 'x', backoff: null }]],
  ['set', ['in 1 hour', { target: 'x', backoff: 5 }]],
  ['set', ['in 1 hour', { target: null }]],
  ['set', ['in 1 hour', { target: 5 }]],
  ['set', ['in 1 hour', { target: 'x', payload: { n: Number.NaN } }]],
  ['set', ['in 1 hour', { target: 'x', payload: [null, Number.POSITIVE_INFINITY] }]],
  ['setMany', [null]],
  ['setMany', [[null]]],
  ['setMany', ['x']],
  ['get', [5]],
  ['get', ['']],
  ['list', [null]],
  ['list', [{ foo: 1 }]],
  ['list', [{ q: 5 }]],
  ['list', [{ order: 'x' }]],
  ['list', [{ order: 'due', status: 'paused' }]],
  ['list', [{ order: 'due', status: 'completed' }]],
  ['list', [{ limit: 0 }]],
  ['list', [{ status: 'nonsense' }]],
  ['list', [{ cursor: 'nonsense' }]],
  ['history', [null]],
  ['history', [{ state: 'failed' }]],
  ['failed', [{ limit: 1.5 }]],
  ['cancel', ['x', null]],
  ['cancelMany', []],
  ['cancelMany', ['x']],
  ['removeSubject', ['']],
  ['preview', ['noon', { from: 'x' }]],
  ['handle', ['h', 'no function']],
  ['handle', ['h', () => {}, { timeoutMs: '5s' }]],
  ['handle', ['h', () => {}, { transactionl: true }]],
  ['forTenant', ['']],
]

describe('bad input', () => {
  it.each(WRONG)('%s refuses %j with a WakefulError', async (call, args) => {
    const attempt = async () => loose()[call]!.call(bench.wakeful, ...args)
    const thrown = await attempt().then(
      () => null,
      (reason: unknown) => reason,
    )
    expect(thrown).toBeInstanceOf(WakefulError)
    expect((thrown as WakefulError).code).toMatch(/^invalid_/)
    expect((await bench.wakeful.stats()).total).toBe(1)
  })

  it.each(['pause', 'resume', 'fireNow', 'retry', 'cancel'])(
    '%s refuses a version it cannot read',
    async (call) => {
      const wrong = { code: expect.stringMatching(/^invalid_/) }
      await expect(loose()[call]!.call(bench.wakeful, id, { updatedAt: 5 })).rejects.toMatchObject(wrong)
      await expect(loose()[call]!.call(bench.wakeful, id, { updated_at: new Date() })).rejects.toMatchObject(
        wrong,
      )
    },
  )

  it('takes the version the caller saw as a Date or as ISO text, and refuses an older one', async () => {
    const { wakeful } = bench
    const seen = (await wakeful.get(id))!
    const paused = await wakeful.pause(id, { updatedAt: seen.updatedAt.toISOString() })
    await expect(wakeful.cancel(id, { updatedAt: seen.updatedAt })).rejects.toMatchObject({
      code: 'conflict',
    })
    await wakeful.resume(id, { updatedAt: paused.updatedAt })
  })

  it.each([
    { timeZone: 'Europe/Rome' },
    { timezone: 'Mars/Phobos' },
    { phrases: { clock: '25h' } },
    { phrases: null },
    { concurrency: 0 },
    { limits: { payloadBytesMax: '1MB' } },
    { limits: { payload: 1 } },
    { defaults: { maxFailures: -1 } },
    { defaults: { maxfailures: 1 } },
    { pool: 'wakeful' },
    { pool: 'Not A Pool' },
    { grace: 'soon' },
    { drain: 5 },
  ])('open refuses %j', async (options) => {
    await expect(open('sqlite::memory:', options as never)).rejects.toBeInstanceOf(WakefulError)
  })

  it.each(['', 'sqlite:', 'postgres://[', 'mysql://x', 5, null])('open refuses the store %j', async (url) => {
    await expect(open(url as string)).rejects.toBeInstanceOf(WakefulError)
  })
})
