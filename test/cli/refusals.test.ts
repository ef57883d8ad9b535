import { expect, it } from 'vitest'
import { open } from '../../src/index.ts'
import { startServer } from '../../src/server/index.ts'
import { storeFile, wakeful } from './command-line.ts'

const SET = ['set', 'tomorrow at noon', '--target', 'inbox']

it.each([
  [
    [...SET, '--backoff-base', '2h', '--backoff-cap', '1h'],
    '--backoff-cap must be a duration from 2h to 31d, not 1h.',
  ],
  [[...SET, '--backoff-base', '2d'], '--backoff-base must be a duration from 0s to 1d, not 2d.'],
  [['calendar', 'put', 'BAD', '2026-12-25'], "NAME: 'BAD' is not the name of a calendar."],
  [['calendar', 'put', 'good', '2026-13-25'], "DATES: '2026-13-25' is not a date"],
  [['get', ''], 'ID is empty.'],
  [['complete', 'x', 'done', '--occurrence', ''], '--occurrence is empty.'],
  [['complete', 'x', 'a\0b'], 'RESULT contains a NUL character'],
  [['fail', 'x', 'a\0b'], 'REASON contains a NUL character'],
  [['pause', 'x', '--if-updated-at', 'y'], "--if-updated-at: 'y' is not an instant"],
  [['preview', 'every day at 9am', '--from', 'x'], "--from: 'x' is not a start or end."],
  [['keys', 'create', '--expires-in', 'x'], "--expires-in: 'x' is not a duration."],
  [['keys', 'rotate', 'x', '--grace', 'y'], "--grace: 'y' is not a duration."],
])('%j names the flag or argument, with values as they are typed', async (args, message) => {
  if (args[0] !== 'set') await wakeful(SET)
  const { code, stderr } = await wakeful(args)
  expect([code, stderr]).toEqual([2, expect.stringContaining(`error: ${message}`)])
})

it('says the same when a server refuses it', async () => {
  const alarms = await open(`sqlite:${storeFile()}`)
  const server = await startServer({ wakeful: alarms, host: '127.0.0.1', port: 0, version: '0' })
  try {
    const args = [...SET, '--backoff-base', '2d', '--backoff-cap', '60d']
    const { stderr } = await wakeful(args, '', { WAKEFUL_URL: server.url })
    expect(stderr).toContain('--backoff-base must be a duration from 100ms to 1d, not 2d.')
    const preview = (from: string) =>
      wakeful(['preview', 'every day at 9am', '--from', from], '', { WAKEFUL_URL: server.url })
    expect((await preview('x')).stderr).toContain("--from: 'x' is not a start or end.")
    expect(await preview('next monday')).toMatchObject({ code: 0, stderr: '' })
  } finally {
    await server.close()
    await alarms.close()
  }
})

it.each([
  [['keys', 'create', '--rights', 'all'], 'keys create'],
  [['keys', 'crate'], 'keys'],
  [['calendar', 'put'], 'calendar put'],
  [['--json-lines', 'list'], 'list'],
  [['nothing'], ''],
])('%j points to the help of its command', async (args, name) => {
  const { stderr } = await wakeful(args)
  expect(stderr).toMatch(new RegExp(`^try: wakeful ${name === '' ? '' : `${name} `}--help$`, 'm'))
})

it.each([['list'], ['history'], ['failed']])(
  'says in the help of %s what a high --limit does',
  async (name) => {
    const { stdout } = await wakeful([name, '--help'], '', {}, 200)
    expect(stdout).toMatch(/--limit <n> .*capped at 500/)
  },
)
