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
  const several = await wakeful(['events', '--type', 'alarm.resumed,alarm.paused'])
  expect(several.stdout).toMatch(/alarm\.paused.*alarm\.resumed/s)
  expect(several.stdout).not.toContain('alarm.rescheduled')
  expect((await wakeful(['get', '--key', 'sitdown'])).code).toBe(1)
  expect((await json(['cancel', '--key', 'standup'])).outcome).toBe('cancelled')
})

it('looks for a key among all owners or tenants, and lists the owners where several have it', async () => {
  const set = (owner: string, tenant: string) =>
    json(['set', '2040-05-01', '--key', 'standup', '--event', '--owner', owner, '--tenant', tenant])
  const ann = await set('ann', 'default')
  const eve = await set('eve', 'acme')
  expect(await json(['get', '--key', 'standup', '--all-owners'])).toMatchObject({ id: ann.id, owner: 'ann' })
  expect(await json(['why', '--key', 'standup', '--all-owners'])).toMatchObject({ id: ann.id })
  const events = await wakeful(['events', '--key', 'standup', '--all-owners', '--json'])
  expect(events).toMatchObject({ code: 0, stdout: '' })
  await wakeful(['cancel', ann.id, '--owner', 'ann'])
  const [event] = (await wakeful(['events', '--key', 'standup', '--all-owners', '--json'])).stdout.split('\n')
  expect(JSON.parse(event!)).toMatchObject({ alarm_id: ann.id, owner: 'ann' })
  for (const command of ['get', 'why', 'events']) {
    const { stderr, code } = await wakeful([command, '--key', 'standup', '--all-tenants'])
    expect(code).toBe(2)
    expect(stderr.replaceAll('\n', ' ')).toContain("2 owners have an alarm with the key 'standup'")
    expect(stderr).toContain(`${eve.id} (owner 'eve' of tenant 'acme')`)
    expect(stderr).toContain(`${ann.id} (owner 'ann' of tenant 'default')`)
    expect((await wakeful([command, '--key', 'none', '--all-owners'])).stderr).toContain('with the key none')
    expect((await wakeful([command, '--key', 'standup'])).code).toBe(1)
  }
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
