import { afterAll, expect, it } from 'vitest'
import type { Alarms } from '../../src/index.ts'
import { startServer } from '../../src/server/index.ts'
import { openTest } from '../../src/testing/index.ts'
import { caller } from './harness.ts'
import { connected } from './ws-client.ts'

const { wakeful, clock, close } = await openTest({ retention: '1h' })
afterAll(close)

const cursorOf = async (alarms: Alarms) => (await Array.fromAsync(alarms.events())).at(-1)!.cursor

it('rejects only cursors behind which retention has removed events', async () => {
  await wakeful.start()
  const other = wakeful.forTenant('default', 'other')
  await wakeful.append({ type: 'order.first' })
  await other.append({ type: 'order.first' })
  const [early, others] = [await cursorOf(wakeful), await cursorOf(other)]
  const ended = await wakeful.set({ delay: '1h' }, { target: { event: true } })
  await clock.advance('2h')
  const read = await cursorOf(wakeful)
  await clock.advance('3h')
  expect(await wakeful.get(ended.id)).toBeNull()
  await wakeful.append({ type: 'order.last' })

  const after = async (alarms: Alarms, cursor: string) =>
    (await Array.fromAsync(alarms.events({ after: cursor }))).map(({ type }) => type)
  await expect(after(wakeful, early)).rejects.toMatchObject({ code: 'cursor_expired' })
  // A reader that had read the removed events continues, and so does one that has missed none.
  expect(await after(wakeful, read)).toEqual(['order.last'])
  expect(await after(other, others)).toEqual([])
  expect((await Array.fromAsync(wakeful.events())).map(({ type }) => type)).toEqual([
    'order.first',
    'order.last',
  ])

  // Started only after the time has passed: on virtual time the server's timers would fire very often.
  const server = await startServer({ wakeful, host: '127.0.0.1', port: 0, version: '0.0.0' })
  const call = caller(server.url)
  for (const [path, headers] of [
    [`/v1/events?after=${early}`, {}],
    [`/v1/events/stream?after=${early}`, {}],
    ['/v1/events/stream', { 'last-event-id': early }],
  ] as const) {
    const refused = await call('GET', path, undefined, headers)
    expect([refused.status, refused.json.code]).toEqual([410, 'cursor_expired'])
  }
  expect((await call('GET', `/v1/events?after=${read}`)).json.items).toHaveLength(1)
  const ws = await connected(server.url)
  expect((await ws.call('subscribe', { after: early })).error.code).toBe('cursor_expired')
  await ws.call('subscribe', { after: read })
  expect((await ws.until(({ event }) => event)).event.type).toBe('order.last')
  ws.socket.close()
  await ws.closed
  await server.close()
})
