import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type * as client from '../../src/client/index.ts'
import { type Serving, serving } from '../server/harness.ts'
import { startChromium } from './chromium.ts'
import { type PageServer, startPageServer } from './page-server.ts'

// The first run on a machine installs the browser.
const INSTALLED_MS_MAX = 600_000

let allowed: PageServer
let foreign: PageServer
let browser: Browser
let server: Serving
beforeAll(async () => {
  ;[allowed, foreign] = [await startPageServer(), await startPageServer()]
  server = await serving({ server: { allowedOrigins: [allowed.origin] } })
  browser = await startChromium()
}, INSTALLED_MS_MAX)
afterAll(async () => {
  await browser.close()
  for (const each of [allowed, foreign]) each.close()
})

/** A page of this origin, which has loaded the client as a module. */
async function pageOf({ origin }: PageServer): Promise<{ page: Page; messages: string[] }> {
  const page = await browser.newPage()
  const messages: string[] = []
  page.on('console', (message) => messages.push(message.text()))
  page.on('pageerror', (error) => messages.push(String(error)))
  await page.goto(origin)
  return { page, messages }
}

type Client = typeof client

describe('in a real browser', () => {
  it('sets, lists, follows and cancels from an origin that may', async () => {
    const { page } = await pageOf(allowed)
    const seen = await page.evaluate(async (url) => {
      const { connect, rawJson, WakefulError } = (globalThis as unknown as { wakeful: Client }).wakeful
      const alarms = connect(url, { owner: 'ann', timezone: 'Europe/Rome', pollMs: 20 })
      const payload = '{"b":9007199254740993,"a":1.10,"é":"😀"}'
      const after = await alarms.newest()
      const set = await alarms.set('tomorrow at 9am', {
        target: { event: true },
        key: 'from/a page',
        label: 'a page’s',
        payload: rawJson(payload),
      })
      const { items } = await alarms.list({ label: 'a page’s' })
      const late = await alarms.pause(set.id, { updatedAt: new Date(0) }).catch((error: unknown) => error)
      const cancelled = await alarms.cancel(set.id, { updatedAt: set.updatedAt })
      const types: string[] = []
      for await (const event of alarms.events({ follow: true, after })) {
        types.push(event.type)
        if (event.type === 'alarm.cancelled') break
      }
      const florp = await alarms.set('florp', { target: 'x' }).catch((error: unknown) => error)
      return {
        id: set.id,
        zone: set.timezone,
        isDate: set.nextFireAt instanceof Date,
        listed: items.map(({ id, payloadJson, key }) => ({ id, payloadJson, key })),
        outcome: cancelled.outcome,
        types,
        refusals: [late, florp].map((error) => (error instanceof WakefulError ? error.code : String(error))),
      }
    }, server.url)
    const payloadJson = '{"b":9007199254740993,"a":1.10,"é":"😀"}'
    expect(seen).toEqual({
      id: expect.any(String),
      zone: 'Europe/Rome',
      isDate: true,
      listed: [{ id: seen.id, payloadJson, key: 'from/a page' }],
      outcome: 'cancelled',
      types: ['alarm.cancelled'],
      refusals: ['conflict', 'invalid_time'],
    })
    const own = await server.wakeful.forTenant('default', 'ann').get(seen.id)
    expect(own).toMatchObject({ status: 'cancelled', payloadJson, createdVia: 'rest' })
    expect(
      [...allowed.served].filter(
        (path) =>
          !/^src\/(?:client|contracts\/routes|json|errors?|alarm\/fields|time\/(?:durations|text))(?:\/|\.ts)/.test(
            path,
          ),
      ),
    ).toEqual([])
    await page.close()
  })

  it('is refused from a foreign origin, and changes nothing', async () => {
    const { page, messages } = await pageOf(foreign)
    await server.wakeful.set({ delay: '1h' }, { target: { event: true } })
    const before = await server.wakeful.stats()
    const tried = await page.evaluate(async (url) => {
      const { connect, WakefulError } = (globalThis as unknown as { wakeful: Client }).wakeful
      const alarms = connect(url, { retries: 0 })
      const codeOf = (asked: Promise<unknown>) =>
        asked.then(
          () => 'let in',
          (error: unknown) => (error instanceof WakefulError ? error.code : String(error)),
        )
      // A page may send this without a preflight. It cannot read the answer, and the request must have no effect.
      const body = '{"delay":"1h","target":{"event":true}}'
      const simple = (type: string) =>
        fetch(`${url}/v1/alarms`, {
          method: 'POST',
          mode: 'no-cors',
          body,
          headers: { 'content-type': type },
        })
      const blind = await simple('text/plain')
      await fetch(`${url}/v1/reset`, { method: 'POST', mode: 'no-cors' })
      return {
        set: await codeOf(alarms.set({ delay: '1h' }, { target: { event: true } })),
        list: await codeOf(alarms.list()),
        cancel: await codeOf(alarms.cancel('x')),
        blind: blind.type,
      }
    }, server.url)
    expect(tried).toEqual({
      set: 'store_unavailable',
      list: 'store_unavailable',
      cancel: 'store_unavailable',
      blind: 'opaque',
    })
    expect(messages.join('\n')).toMatch(/blocked by CORS policy/)
    expect(await server.wakeful.stats()).toEqual(before)
    await page.close()
  })
})
