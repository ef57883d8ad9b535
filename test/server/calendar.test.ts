import { expect, it, vi } from 'vitest'
import { readCalendar } from '../../src/time/index.ts'
import { caller, serving } from './harness.ts'
import { keysOf } from './keys-of.ts'
import { until } from './ws-client.ts'

const { url, call, wakeful } = await serving()
const EVENT = { event: true }

it('shows the alarms of the next month only to those with the secret address', async () => {
  const label = 'Stand-up; all, of us \\ "é😀" '.repeat(5)
  await call('POST', '/v1/alarms', { delay: '1h', target: EVENT, label, wake_message: 'line one\nline two' })
  await call('POST', '/v1/alarms', { every: '1d', target: EVENT, key: 'daily' })
  await call('POST', '/v1/alarms', { delay: '90d', target: EVENT, label: 'far away' })
  await call(
    'POST',
    '/v1/alarms',
    { delay: '1h', target: EVENT, label: 'theirs' },
    { 'wakeful-owner': 'other' },
  )
  const { json } = await call('POST', '/v1/calendar')
  expect(json.path).toMatch(/^\/v1\/calendar\.ics\?token=wf_[\w-]{43}$/)

  // With its address alone, as a calendar program fetches it.
  const { status, headers, text } = await caller(url)('GET', json.path)
  expect([status, headers.get('content-type')]).toEqual([200, 'text/calendar; charset=utf-8'])
  for (const line of text.split('\r\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75)
  const unfolded = text.replaceAll('\r\n ', '')
  const summaries = [...unfolded.matchAll(/^SUMMARY:(.*)$/gm)].map(([, summary]) => summary)
  expect(summaries.filter((summary) => summary === 'daily')).toHaveLength(31)
  expect(summaries.some((summary) => summary!.startsWith('Stand-up\\; all\\, of us \\\\ "é😀"'))).toBe(true)
  expect(unfolded).toContain('DESCRIPTION:line one\\nline two')
  expect(unfolded).not.toMatch(/far away|theirs/)
  expect(new Set(unfolded.match(/^UID:.*$/gm)).size).toBe(summaries.length)
  // Wakeful's own parser of calendars accepts it, and ignores entries that are not days off.
  expect(() => readCalendar('x', { ics: text, dates: ['2030-01-01'] }, 0)).not.toThrow()

  expect((await call('GET', '/v1/calendar.ics')).text).toContain('BEGIN:VCALENDAR')
  expect((await call('GET', '/v1/calendar.ics?token=wf_nonsense')).status).toBe(401)
  expect((await call('GET', `/v1/alarms?token=${json.path.split('=')[1]}`)).status).toBe(400)
  const stored = await wakeful.operator.documents.listDocuments('feed', null, '', 10)
  expect(JSON.stringify(stored)).not.toContain(json.path.split('=')[1])
  expect((await call('DELETE', '/v1/calendar')).json).toEqual({ removed: 1 })
  expect((await call('GET', json.path)).status).toBe(401)
})

it('invalidates an address with its key, but not when the key is rotated', async () => {
  const { url: keyed, wakeful: theirs, call: keyless } = await serving()
  const before = (await keyless('POST', '/v1/calendar')).json.path
  const status = async (path: string, headers = {}) => (await keyless('GET', path, undefined, headers)).status
  expect(await status(before)).toBe(200)
  expect(await status(before, { 'x-forwarded-for': '203.0.113.7' })).toBe(403)
  const { keys } = keysOf(theirs)
  const made = await keys('acme', 'ann', 'write')
  await until(async () => (await status('/v1/stats')) === 401)
  // Callers without a key are no longer admitted.
  expect(await status(before)).toBe(401)
  const ann = caller(keyed, { authorization: `Bearer ${made.key}` })
  const { path } = (await ann('POST', '/v1/calendar')).json
  expect(await status(path)).toBe(200)
  await made.rotate()
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  expect(await status(path)).toBe(200)
  await made.revoke()
  await until(async () => (await status(path)) === 401)
})

it('formats the text of an alarm once, shortened for a calendar', async () => {
  const headers = { 'wakeful-owner': 'wordy' }
  const wake_message = 'ä😀'.repeat(1_000)
  const items = Array.from({ length: 50 }, () => ({ every: '6h', target: EVENT, label: 'l', wake_message }))
  await call('POST', '/v1/alarms/batch', { items }, headers)
  const encode = vi.spyOn(TextEncoder.prototype, 'encode')
  const { text } = await call('GET', '/v1/calendar.ics', undefined, headers)
  expect(encode.mock.calls.length).toBeLessThan(1_000)
  encode.mockRestore()
  expect(Buffer.byteLength(text)).toBeLessThan(2 * 2 ** 20 + 1_000)
  expect(text.endsWith('END:VEVENT\r\nEND:VCALENDAR\r\n')).toBe(true)
  for (const line of text.split('\r\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75)
  const [, description] = text.replaceAll('\r\n ', '').match(/^DESCRIPTION:(.*)$/m)!
  expect(description).toBe(`${'ä😀'.repeat(66)}ä…`)
})

it('shows each instant that is not on a day off once', async () => {
  const headers = { 'wakeful-owner': 'rests' }
  const body = { cron_expr: '0 9 * * *', exclude: 'weekends', target: EVENT }
  expect((await call('POST', '/v1/alarms', body, headers)).status).toBe(201)
  const { text } = await call('GET', '/v1/calendar.ics', undefined, headers)
  const starts = text.match(/^DTSTART:.*$/gm)!
  expect(starts.length).toBeGreaterThan(15)
  expect(new Set(starts).size).toBe(starts.length)
})
