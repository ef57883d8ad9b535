import { describe, expect, it } from 'vitest'
import { open } from '../../src/index.ts'
import { startServer } from '../../src/server/index.ts'
import { storeFile, wakeful } from './command-line.ts'

const ROME = ['--timezone', 'Europe/Rome']

describe('phrases that leave the time of day open', () => {
  it('are read as the variables say, on a store', async () => {
    const env = {
      WAKEFUL_DB: storeFile(),
      WAKEFUL_PHRASE_CLOCK: '12h',
      WAKEFUL_PHRASE_TIMES: 'morning=07:45',
    }
    const five = await wakeful(['parse', 'tomorrow at 5', ...ROME], '', env)
    expect(five.stdout).toMatch(/17:00:00/)
    expect(five.stdout).toMatch(/'5' is read on the 12-hour clock: 17:00/)
    const morning = await wakeful(['preview', 'every morning', ...ROME, '--json'], '', env)
    expect(JSON.parse(morning.stdout).rule).toMatchObject({ cron: '45 7 * * *' })
    const refused = await wakeful(['parse', 'tomorrow at 5', ...ROME])
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining("Use '5am' (05:00) or '5pm' (17:00)"),
    ])
  })

  it('name a variable that is wrong', async () => {
    const env = { WAKEFUL_DB: storeFile(), WAKEFUL_PHRASE_TIMES: 'morning=noon' }
    const { code, stderr } = await wakeful(['parse', 'noon'], '', env)
    expect(code).toBe(2)
    expect(stderr).toContain('WAKEFUL_PHRASE_TIMES must be times of day such as morning=08:00')
  })

  it('are read as the server says, through a server', async () => {
    const phrases = { clock: '24h', times: { tonight: '21:30' } } as const
    const alarms = await open(`sqlite:${storeFile()}`, { timezone: 'UTC', phrases })
    const server = await startServer({ wakeful: alarms, host: '127.0.0.1', port: 0, version: '0' })
    try {
      const set = await wakeful(['set', 'tomorrow at 5', '--target', 'inbox', ...ROME, '--json'], '', {
        WAKEFUL_URL: server.url,
      })
      expect(JSON.parse(set.stdout).notes).toEqual(["'5' is read on the 24-hour clock: 05:00"])
      const night = await wakeful(['parse', 'tomorrow night', ...ROME, '--json'], '', {
        WAKEFUL_URL: server.url,
      })
      expect(JSON.parse(night.stdout).notes.join()).toContain('tonight 21:30')
    } finally {
      await server.close()
      await alarms.close()
    }
  })
})
