import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Serving, serving } from '../server/harness.ts'
import { keysOf } from '../server/keys-of.ts'
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

describe('a page in a real browser', () => {
  it('opens a stream and a WebSocket with tickets, each valid once', async () => {
    const { key } = await keysOf(server.wakeful).keys('acme', 'ann', 'write')
    const page = await browser.newPage()
    await page.goto(allowed.origin)
    const seen = await page.evaluate(
      async ({ url, key }) => {
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
        const post = async (path: string, body: object) => {
          const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
          return (await answer.json()) as Record<string, string>
        }
        const ticket = async () => (await post('/v1/tickets', {})).ticket!
        const used = await ticket()
        const source = new EventSource(`${url}/v1/events/stream?ticket=${used}`)
        await new Promise((resolve, reject) => {
          source.addEventListener('open', resolve)
          source.addEventListener('error', reject)
        })
        const streamed = new Promise<MessageEvent>((resolve) =>
          source.addEventListener('order.paid', (event) => resolve(event as MessageEvent)),
        )
        const open = (query: string) =>
          new Promise<WebSocket | null>((resolve) => {
            const ws = new WebSocket(`${url.replace('http', 'ws')}/v1/ws${query}`)
            ws.addEventListener('open', () => resolve(ws))
            ws.addEventListener('error', () => resolve(null))
          })
        const ws = (await open(`?ticket=${await ticket()}`))!
        const received: { subscription?: string; event?: { id: string; tenant: string } }[] = []
        const complete = new Promise<void>((resolve) => {
          ws.addEventListener('message', ({ data }) => {
            received.push(JSON.parse(String(data)))
            if (received.length === 2) resolve()
          })
        })
        ws.send('{"id":1,"call":"subscribe"}')
        while (received.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
        const event = await post('/v1/events', { type: 'order.paid', data: { n: 7 } })
        const message = await streamed
        await complete
        source.close()
        ws.close()
        const again = new EventSource(`${url}/v1/events/stream?ticket=${used}`)
        const refused = await new Promise((resolve) => again.addEventListener('error', resolve)).then(
          () => again.readyState,
        )
        return {
          event,
          streamed: JSON.parse(message.data),
          lastEventId: message.lastEventId,
          received: received[1],
          refused,
          without: await open(''),
          twice: await open(`?ticket=${used}`),
        }
      },
      { url: server.url, key },
    )
    expect(seen.event).toMatchObject({ tenant: 'acme', data: { n: 7 } })
    expect(seen.streamed).toEqual(seen.event)
    expect(seen.lastEventId).toBe(seen.event.cursor)
    expect(seen.received).toEqual({ subscription: 's1', event: seen.event })
    // Closed: it does not reconnect.
    expect(seen.refused).toBe(2)
    expect([seen.without, seen.twice]).toEqual([null, null])
    await page.close()
  })

  it('of a foreign origin is rejected by both, even with a ticket', async () => {
    const { key } = await keysOf(server.wakeful).keys('acme', 'ann', 'write')
    const made = await server.call('POST', '/v1/tickets', undefined, { authorization: `Bearer ${key}` })
    const page = await browser.newPage()
    await page.goto(foreign.origin)
    const opened = await page.evaluate(
      async ({ url, ticket }) => {
        const ws = new WebSocket(`${url.replace('http', 'ws')}/v1/ws?ticket=${ticket}`)
        const isOpen = await new Promise((resolve) => {
          ws.addEventListener('open', () => resolve(true))
          ws.addEventListener('error', () => resolve(false))
        })
        const source = new EventSource(`${url}/v1/events/stream?ticket=${ticket}`)
        const isStreaming = await new Promise((resolve) => {
          source.addEventListener('open', () => resolve(true))
          source.addEventListener('error', () => resolve(false))
        })
        return { isOpen, isStreaming }
      },
      { url: server.url, ticket: made.json.ticket },
    )
    expect(opened).toEqual({ isOpen: false, isStreaming: false })
    await page.close()
  })
})
