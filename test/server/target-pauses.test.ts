import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { caller, serving } from './harness.ts'

const dir = mkdtempSync(join(tmpdir(), 'wakeful-target-pauses-'))
afterAll(() => rmSync(dir, { recursive: true }))

/** The labels of what was delivered to a local receiver. */
const delivered: string[] = []
const sink = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk) => (body += chunk))
  request.on('end', () => {
    delivered.push(JSON.parse(body).label)
    response.end()
  })
})
await new Promise<void>((resolve) => sink.listen(0, '127.0.0.1', resolve))
afterAll(() => void sink.close())
const host = `127.0.0.1:${(sink.address() as AddressInfo).port}`

describe.for([
  ['SQLite', () => `sqlite:${join(dir, 'alarms.db')}`],
  ['PostgreSQL', () => `${inject('postgres')}postgres?schema=target_pauses_${process.pid}`],
] as const)('a paused target on %s', ([name, store]) => {
  const start = async () => {
    const server = await serving({
      store: store(),
      open: { allowPrivateTargets: true, secret: 'a secret of the tests, 32 characters long' },
    })
    await server.wakeful.start()
    return { ...server, owner: caller(server.url, { 'wakeful-owner': 'by default' }) }
  }
  const of = (what: string) => `${name} ${what}`

  it('stays paused over a restart, however alarms spell it, and is caught up with', async () => {
    const first = await start()
    for (const target of [`http://${host}`, `http://${host}/p2`])
      expect((await first.call('POST', '/v1/targets/pause', { target })).json.paused).toBe(true)
    await first.owner('PUT', '/v1/owner/target', { target: { webhook: `http://${host}/p2` } })
    const set = async (call: typeof first.call, label: string, webhook?: string) => {
      const target = webhook === undefined ? {} : { target: { webhook } }
      return (await call('POST', '/v1/alarms', { delay: '10ms', label: of(label), ...target })).json
    }
    const paused = [
      await set(first.call, 'no slash', `http://${host}`),
      await set(first.call, 'slash', `http://${host}/`),
      await set(first.call, 'capitals', `HTTP://${host}/p2`),
      await set(first.call, 'dots', `http://${host}/x/../p2`),
      await set(first.call, 'no query', `http://${host}/p2?`),
    ]
    expect(paused.map(({ target }) => target)).toContain(`HTTP://${host}/p2`)
    const byDefault = await set(first.owner, 'default')
    await set(first.call, 'free', `http://${host}/free`)
    await until(() => delivered.includes(of('free')))
    for (const { id } of paused)
      await until(async () => /paused/.test((await first.call('GET', `/v1/alarms/${id}/why`)).json.next))
    await until(async () =>
      /waits, uncounted/.test((await first.owner('GET', `/v1/alarms/${byDefault.id}/why`)).json.next),
    )
    await first.close()
    const second = await start()
    await set(second.call, 'free again', `http://${host}/free`)
    await until(() => delivered.includes(of('free again')))
    expect(delivered.filter((label) => label.startsWith(name))).toEqual([of('free'), of('free again')])
    // With the spelling of the pause, or another one.
    for (const target of [`HTTP://${host}`, `http://${host}/p2`])
      expect((await second.call('POST', '/v1/targets/resume', { target })).json.paused).toBe(false)
    const labels = ['no slash', 'slash', 'capitals', 'dots', 'no query', 'default', 'free', 'free again'].map(
      of,
    )
    await until(() => labels.every((label) => delivered.includes(label)))
    expect(delivered.filter((label) => label.startsWith(name)).sort()).toEqual(labels.sort())
    // It was delivered before its outcome was written.
    const readAgain = async () => (await second.owner('GET', `/v1/alarms/${byDefault.id}`)).json
    await until(async () => (await readAgain()).status !== 'active')
    expect(await readAgain()).toMatchObject({ status: 'fired', failure_count: 0 })
    await second.close()
  })
})

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 20))
}
