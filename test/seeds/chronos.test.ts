import { afterEach, describe, expect, it } from 'vitest'
import { type Fire, type Handler, open, rawJson, type Wakeful } from '../../src/index.ts'
import { testDatabase } from '../postgres/database.ts'

/** Seed 000 (Chronos): the store's operations on PostgreSQL, one by one. Owners are agents, their user is the tenant. */
const { url } = testDatabase()
const USER = '3f2b8a4e'
const ANN = `did:matrix:${USER}:ann`
const BOB = `did:matrix:${USER}:bob`
const EVERY_SECOND = { cron: '* * * * * *', timezone: 'Europe/Berlin' }

const opened: Wakeful[] = []
afterEach(async () => {
  for (const wakeful of opened.splice(0)) await wakeful.close()
})

async function chronos(wake?: Handler): Promise<Wakeful> {
  const wakeful = await open(url, { tenant: USER })
  opened.push(wakeful)
  if (wake !== undefined) {
    wakeful.handle('wake', wake)
    await wakeful.start()
  }
  return wakeful
}

const agent = (wakeful: Wakeful, did: string) => wakeful.forTenant(USER, did)
const until = (isSo: () => Promise<unknown>) =>
  expect.poll(isSo, { timeout: 20_000, interval: 20 }).toBeTruthy()

describe('CreateAlarm', () => {
  it('keeps what the agent stashed, verbatim', async () => {
    const ann = agent(await chronos(), ANN)
    const payload = '{"cursor":9007199254740993,"b":1,"a":"\\u0000é"}'
    const { id } = await ann.set(
      { delay: '1h' },
      {
        target: 'wake',
        label: 'daily summary',
        conversationId: 'c-1',
        message: 'go on — “where” you were',
        payload: rawJson(payload),
      },
    )
    expect(await ann.get(id)).toMatchObject({
      kind: 'once',
      status: 'active',
      label: 'daily summary',
      conversationId: 'c-1',
      message: 'go on — “where” you were',
      payloadJson: payload,
      maxFailures: 5,
      failureCount: 0,
      lastFiredAt: null,
    })
  })

  it('returns the existing alarm for the same key of the same owner, also to concurrent callers', async () => {
    const [one, two] = [agent(await chronos(), ANN), agent(await chronos(), ANN)]
    const post = (store: typeof one) => store.set({ delay: '1h' }, { target: 'wake', idempotencyKey: 'k-1' })
    const answers = await Promise.all([post(one), post(two), post(one), post(two)])
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
    expect(answers.filter(({ deduped }) => deduped !== true)).toHaveLength(1)
    const others = await agent(await chronos(), BOB).set(
      { delay: '1h' },
      { target: 'wake', idempotencyKey: 'k-1' },
    )
    expect(others.id).not.toBe(answers[0]!.id)
  })
})

describe('ListAlarms, GetAlarm, CancelAlarm', () => {
  it('are restricted to the owner; newest first, 500 at most; unknown and foreign ids give the same error', async () => {
    const wakeful = await chronos()
    const [bob, carl] = [agent(wakeful, BOB), agent(wakeful, `${BOB}-carl`)]
    await carl.setMany(Array.from({ length: 501 }, () => ({ when: { delay: '1h' }, target: 'wake' })))
    const { items, nextCursor } = await carl.list({ limit: 500 })
    expect(items).toHaveLength(500)
    expect(items.every(({ createdAt }, i) => i === 0 || createdAt <= items[i - 1]!.createdAt)).toBe(true)
    expect((await carl.list({ limit: 500, cursor: nextCursor! })).items).toHaveLength(1)
    expect((await carl.list({ limit: 10_000 })).items).toHaveLength(500)
    expect(await bob.get(items[0]!.id)).toBeNull()
    await expect(bob.cancel(items[0]!.id)).rejects.toMatchObject({ code: 'not_found' })
    expect((await carl.get(items[0]!.id))?.status).toBe('active')
  })

  it('cancel once, and again, and what has ended', async () => {
    const ann = agent(await chronos(), ANN)
    const { id } = await ann.set({ delay: '1h' }, { target: 'wake' })
    expect((await ann.cancel(id)).outcome).toBe('cancelled')
    expect((await ann.cancel(id)).outcome).toBe('ended')
    expect(await ann.get(id)).toMatchObject({ status: 'cancelled', nextFireAt: null })
  })
})

describe('ClaimDue, MarkFired', () => {
  it('claims due alarms once, with any number of workers, and keeps fired ones', async () => {
    const woken: string[] = []
    const wake = (fire: Fire) => void woken.push(fire.alarm.id)
    const workers = [await chronos(wake), await chronos(wake), await chronos(wake)]
    const ann = agent(workers[0]!, ANN)
    const due = await ann.setMany(Array.from({ length: 200 }, () => ({ when: 'now', target: 'wake' })))
    const ids = due.map(({ id }) => id)
    await until(async () => woken.length >= 200 && (await ann.get(ids.at(-1)!))?.status === 'fired')
    expect(woken.toSorted()).toEqual(ids.toSorted())
    const fired = (await ann.get(ids[0]!))!
    expect(fired).toMatchObject({ status: 'fired', nextFireAt: null })
    expect(fired.lastFiredAt).toBeInstanceOf(Date)
  })

  it('a restart loses no scheduled wake', async () => {
    const before = await chronos(() => {})
    const { id } = await agent(before, ANN).set({ delay: '500ms' }, { target: 'wake' })
    await before.close()
    await new Promise((resolve) => setTimeout(resolve, 700))
    const after = await chronos(() => {})
    await until(async () => (await agent(after, ANN).get(id))?.status === 'fired')
  })
})

describe('Reschedule, RescheduleAfterFailure', () => {
  it('a cron alarm stays active and continues, also after wakes that fail for good', async () => {
    const fires: Fire[] = []
    const wakeful = await chronos((fire) => {
      fires.push(fire)
      if (fires.length <= 2) throw new Error('the router is away')
    })
    const ann = agent(wakeful, ANN)
    const { id } = await ann.set(EVERY_SECOND, { target: 'wake', maxFailures: 2, backoff: { baseMs: 1 } })
    await until(async () => (await ann.get(id))?.lastFiredAt)
    const alarm = (await ann.get(id))!
    expect(alarm).toMatchObject({ kind: 'cron', status: 'active' })
    expect(+alarm.nextFireAt!).toBeGreaterThan(+alarm.lastFiredAt! - 1000)
    const [first, second, third] = fires
    expect(second!.occurrence.id).toBe(first!.occurrence.id)
    expect(+third!.occurrence.scheduledFor).toBeGreaterThan(+second!.occurrence.scheduledFor)
    const types = (await Array.fromAsync(ann.events({ alarmId: id }))).map(({ type }) => type)
    expect(types.slice(0, 3)).toEqual(['alarm.attempt_failed', 'alarm.failed', 'alarm.fired'])
    await ann.cancel(id)
  })
})

describe('RecordRetry, MarkFailed', () => {
  it('counts failures, waits longer, gives up at the ceiling with the last error', async () => {
    const attempts: number[] = []
    const wakeful = await chronos((fire) => {
      attempts.push(fire.attempt)
      throw new Error(`no router, attempt ${fire.attempt}`)
    })
    const ann = agent(wakeful, ANN)
    const { id } = await ann.set('now', { target: 'wake', maxFailures: 3, backoff: { baseMs: 20 } })
    await until(async () => (await ann.get(id))?.status === 'failed')
    expect(attempts).toEqual([1, 2, 3])
    expect(await ann.get(id)).toMatchObject({
      failureCount: 3,
      lastError: 'no router, attempt 3',
      nextFireAt: null,
    })
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(attempts).toHaveLength(3)
  })
})
