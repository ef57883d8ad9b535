import { expect, it } from 'vitest'
import { serving } from '../harness.ts'
import { httpAgent } from './agents.ts'

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

it('names the reason for a late wake: no running engine, a pause, or no call of inbox', async () => {
  const server = await serving()
  const [down, paused, unasked] = await Promise.all(
    ['down', 'paused', 'unasked'].map((owner) => httpAgent(server.url, { 'wakeful-owner': owner })),
  )
  await down!.tool('set', { delay: '10ms', wake_message: 'x' })
  const waiting = await paused!.tool('set', { delay: '10ms', wake_message: 'x' })
  const act = (verb: string) =>
    server.call('POST', `/v1/alarms/${waiting.structured.id}/${verb}`, undefined, {
      'wakeful-owner': 'paused',
    })
  await act('pause')
  await pause(1_200)
  await server.wakeful.start()
  await act('resume')
  await unasked!.tool('set', { delay: '10ms', wake_message: 'x' })
  const lateness = async (agent: typeof down) =>
    (await agent!.tool('inbox', { wait: '20s' })).structured.items[0].lateness
  expect(await lateness(down)).toMatch(/^\d+s late: the service was down then, was catching up/)
  expect(await lateness(paused)).toMatch(/^\d+s late: it was paused until \S+Z/)
  await pause(1_200)
  expect(await lateness(unasked)).toMatch(/^\d+s late: it was in your inbox for \d+s until you asked$/)
  const [note] = (await down!.tool('set', { fire_at: '2020-01-01T00:00:00Z' })).structured.notes
  expect(note).toMatch(/past/)
  expect(await lateness(down)).toMatch(/late: its time had already passed when it was set/)
})
