/** The files of users' projects. Texts, because each is written into projects of several kinds. */

/** Sets an alarm, fires it, also on the virtual clock, and reads errors. Valid TypeScript and, without its types, JavaScript. */
export const BODY = `
async function main() {
  const fired = Promise.withResolvers()
  const wakeful = await open('sqlite::memory:')
  wakeful.handle('remind', (fire) => fired.resolve(fire.payload))
  await wakeful.start()
  await wakeful.set('in 10 ms', { target: 'remind', payload: 'awake' })
  const payload = await fired.promise
  await wakeful.close()

  const sent = []
  const bench = await openTest()
  bench.wakeful.handle('remind', (fire) => { sent.push(fire.payload) })
  await bench.wakeful.start()
  await bench.wakeful.set({ cron: '0 9 * * *' }, { target: 'remind', payload: 'daily' })
  await bench.clock.advance('2 days')
  await bench.close()

  const missing = await open('postgres://127.0.0.1/none').catch((thrown) => thrown)
  if (!(missing instanceof WakefulError) || !missing.message.includes('npm install pg')) throw missing
  let refused = ''
  try { connect('http://127.0.0.1', { retries: -1 }) } catch (thrown) { refused = thrown.message }
  if (!refused.includes('must be a whole number')) throw new Error('the text of an error is missing: ' + refused)
  return [payload, ...sent].join(' ')
}
`
export const ANSWER = 'awake daily daily'

export const IMPORTS = `import { open, WakefulError } from 'wakeful'
import { connect } from 'wakeful/client'
import { openTest } from 'wakeful/testing'
`
export const REQUIRES = IMPORTS.replace(/import (.+) from (.+)/g, 'const $1 = require($2)')
/** Only where nothing is bundled: it serves its docs from files, and logs with a package that esbuild cannot put into an ES module. */
export const OTHERS = ['wakeful/time', 'wakeful/sqlite', 'wakeful/postgres', 'wakeful/server']

/** Every kind of argument, with its types. */
export const TYPED = `import { type AlarmView, type Fire, open, type SetOptions, WakefulError, type When } from 'wakeful'
import { connect, type RemoteAlarms } from 'wakeful/client'
import { type TestBench, openTest, VirtualClock } from 'wakeful/testing'
import { preview } from 'wakeful/time'

type IsAny<T> = 0 extends 1 & T ? true : false
const known: [IsAny<When>, IsAny<SetOptions>, IsAny<AlarmView>, IsAny<Fire['signal']>, IsAny<TestBench>] =
  [false, false, false, false, false]

export async function main(): Promise<void> {
  const whens: When[] = ['tomorrow at 9am', new Date(0), { cron: '0 9 * * 1-5', timezone: 'Europe/Rome' }, { every: '5m' }]
  const wakeful = await open('sqlite::memory:', { timezone: 'UTC' })
  wakeful.handle('remind', async (fire: Fire) => {
    if (fire.signal.aborted) throw new WakefulError('host.closed', {})
  })
  const alarm: AlarmView = await wakeful.set(whens[0]!, { target: 'remind', payload: { a: [1] }, key: 'a' })
  for await (const event of wakeful.events({ alarmId: alarm.id })) if (event.type === 'alarm.fired') break
  const remote: RemoteAlarms = connect('https://alarms.example.com', { key: 'wk_' })
  await remote.set({ delay: '10m' }, { target: { webhook: 'https://app.example.com/wake' } })
  const bench: TestBench = await openTest({ clock: new VirtualClock('2030-01-01T00:00:00Z') })
  await bench.clock.advance('3 days')
  const next: Date | null = alarm.nextFireAt
  console.log(next, known, preview)
}
`
/** Wrong calls, none of which may compile. */
export const WRONG: Readonly<Record<string, string>> = {
  'a bare number as a time': `await wakeful.set(5, { target: 'remind' })`,
  'an unknown kind of time': `await wakeful.set({ cronn: '* * * * *' }, { target: 'remind' })`,
  'an object that is no time': `await wakeful.set({ at: 5 }, { target: 'remind' })`,
  'an unknown option': `await wakeful.set('now', { taget: 'remind' })`,
  'an option of another type': `await wakeful.set('now', { target: 'remind', key: 7 })`,
  'a target that is none': `await wakeful.set('now', { target: 7 })`,
  'a handler that is none': `wakeful.handle('remind', 'log')`,
  'a property that does not exist': `console.log((await wakeful.set('now', { target: 'remind' })).nextFire)`,
  'an instant that may be missing': `console.log((await wakeful.set('now', { target: 'remind' })).nextFireAt.getTime())`,
  'an unknown option of open': `await open('sqlite::memory:', { timezon: 'UTC' })`,
  'a wrong reason of an error': `throw new WakefulError('no.such_reason', {})`,
  'a time that is no instant': `const when: When = Symbol.iterator; console.log(when)`,
}

/** A wrong call as a file. */
export function wrongFile(call: string): string {
  return `import { open, WakefulError, type When } from 'wakeful'
export async function main(wakeful: Awaited<ReturnType<typeof open>>, when2: When, E = WakefulError, o = open): Promise<void> {
  ${call}
  console.log(when2, E, o)
}
`
}
