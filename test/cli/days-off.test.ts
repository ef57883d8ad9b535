import { expect, it } from 'vitest'
import { wakeful } from './command-line.ts'

it('excludes days off of a calendar, which can be printed and removed', async () => {
  const ics =
    'BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;VALUE=DATE:20301225\nSUMMARY:Noel\nEND:VEVENT\nEND:VCALENDAR'
  const put = await wakeful(['calendar', 'put', 'fr', '--ics', '-'], ics)
  expect(put.stdout).toBe('fr: 1 day, 2030-12-25\n')
  expect((await wakeful(['calendar', 'get', 'fr'])).stdout).toContain('2030-12-25  Noel')
  const words = ['every day at 9am except fr', '--start', '2030-12-25T00:00Z', '--timezone', 'UTC']
  expect((await wakeful(['preview', ...words])).stdout).toContain('2030-12-26 09:00:00')
  const { id } = JSON.parse((await wakeful(['set', ...words, '--event', '--json'])).stdout) as {
    id: string
  }
  const refused = (await wakeful(['calendar', 'remove', 'fr'])).stderr
  expect(refused).toContain(id)
  expect(refused).toContain('or empty the calendar with `calendar put NAME --empty`')
  expect(await wakeful(['calendar', 'put', 'fr', '2030-12-26', '--label', 'after'])).toMatchObject({
    stdout: 'fr: 1 day, 2030-12-26\n  replaced 1 day\n  1 pending alarm moved\n',
  })
  await wakeful(['cancel', id])
  expect((await wakeful(['calendar', 'remove', 'fr'])).stdout).toBe('fr removed\n')
  expect((await wakeful(['calendar', 'list', '--json'])).stdout).toBe('{"items":[]}\n')
  expect((await wakeful(['calendar', 'get', 'fr'])).code).toBe(1)
})

it('adds days and ranges to a calendar, empties it, and suggests a name', async () => {
  expect((await wakeful(['calendar', 'add', 'company', '2030-12-24..2030-12-31'])).stdout).toBe(
    'company: 8 days, 2030-12-24 to 2030-12-31\n',
  )
  expect((await wakeful(['calendar', 'add', 'company', '2031-01-02', '--label', 'bridge'])).stdout).toBe(
    'company: 9 days, 2030-12-24 to 2031-01-02\n  added 1 day\n',
  )
  expect(await wakeful(['calendar', 'get', 'compny'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Did you mean 'company'?"),
  })
  expect(await wakeful(['preview', '--cron', '0 9 * * *', '--exclude', 'acme'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Known: 'company'. Create it first with `calendar put NAME DATES`"),
  })
  expect((await wakeful(['calendar', 'put', 'company'])).code).toBe(2)
  expect((await wakeful(['calendar', 'put', 'company', '2030-13-01'])).stderr).toContain(
    "DATES: '2030-13-01' is not a date from 1970 to 9999",
  )
  expect((await wakeful(['calendar', 'put', 'company', '--empty'])).stdout).toBe(
    'company: no days off\n  replaced 9 days\n  it has no days off yet\n',
  )
  const timed = 'BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20301225T090000Z\nEND:VEVENT\nEND:VCALENDAR'
  expect(await wakeful(['calendar', 'put', 'meetings', '--ics', '-'], timed)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('the .ics file has no all-day event'),
  })
})
