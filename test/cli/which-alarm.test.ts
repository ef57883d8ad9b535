import { expect, it } from 'vitest'
import { json, wakeful } from './command-line.ts'

it('finds an alarm by its key, or by a prefix of its id', async () => {
  const { id } = await json(['set', '--cron', '0 9 * * *', '--key', 'standup', '--event'])
  expect((await wakeful(['list'])).stdout).toMatch(/ standup +every day at 09:00/)
  expect(await json(['get', id.slice(0, 8)])).toMatchObject({ id })
  expect(await json(['pause', '--key', 'standup'])).toMatchObject({ id, status: 'paused' })
  expect(await json(['resume', id.slice(0, 13).toUpperCase()])).toMatchObject({ id, status: 'active' })
  expect(await json(['reschedule', '--key', 'standup', 'every', 'day', 'at', '8am'])).toMatchObject({
    cron_expr: '0 8 * * *',
  })
  const changed = ['reschedule', '--key', 'standup', '--misfire', 'skip', '--jitter', '5m']
  expect((await wakeful(changed)).stdout).toMatch(
    /rule {2}every day at 08:00, in \S+, each up to 5m later; missed ticks: none fire/,
  )
  expect((await wakeful(['why', '--key', 'standup'])).stdout).toContain(id)
  expect((await wakeful(['events', '--key', 'standup'])).stdout).toContain('alarm.paused')
  expect((await wakeful(['get', '--key', 'sitdown'])).code).toBe(1)
  expect((await json(['cancel', '--key', 'standup'])).outcome).toBe('cancelled')
})

it('prints the zone of an alarm and of the reader, with the same distance', async () => {
  const { id } = await json(['set', '--cron', 'CRON_TZ=Asia/Tokyo 0 9 1 1 *', '--event'])
  const args = ['--timezone', 'UTC']
  const own = /01-01 00:00:00 \+00:00 \((in [^)]+)\) = \d{4}-01-01 09:00:00 \+09:00 Asia\/Tokyo/
  const printed = own.exec((await wakeful(['get', id, ...args])).stdout)
  const fires = /fires at .* \((in [^)]+)\).* = .* 09:00:00 \+09:00 Asia\/Tokyo/.exec(
    (await wakeful(['why', id, ...args])).stdout,
  )
  expect(printed?.[1]).toBeDefined()
  expect(fires?.[1]).toBe(printed?.[1])
  expect((await wakeful(['why', id])).stdout).toMatch(/asked .*, in Asia\/Tokyo, to the event log\n/)
})

it('accepts dates and phrases as bounds', async () => {
  const args = ['preview', '--every', '1 month', '--start', '2099-11-10', '--end', '2100-01-10']
  const { stdout } = await wakeful([...args, '--timezone', 'UTC'])
  expect(stdout.match(/^ {2}\d{4}-\d\d-\d\d 00:00:00/gm)).toEqual([
    '  2099-11-10 00:00:00',
    '  2099-12-10 00:00:00',
    '  2100-01-10 00:00:00',
  ])
  const from = await wakeful(['preview', '--cron', '0 9 * * *', '--from', '2099-11-10', '-n', '1'])
  expect(from.stdout).toMatch(/ {2}2099-11-10 09:00:00/)
  expect((await wakeful(['preview', '--every', 'month'])).stderr).toContain("Use '1 month'")
})
