import { expect, it } from 'vitest'
import type { Alarms } from '../../library/index.ts'
import { type Clock, preview, type When } from '../../time/index.ts'
import { RuleInspector } from './quota-use.ts'

const now = Date.parse('2030-01-01T00:00:00Z')

function looking() {
  const seen = { previews: 0, turns: 0 }
  const alarms = {
    preview: (when: When, options: { count: number }) => {
      seen.previews += 1
      return preview(when, { now, timezone: 'UTC', ...options })
    },
  } as unknown as Alarms
  const turn = async () => {
    seen.turns += 1
  }
  const clock = { turn } as unknown as Clock
  return { looks: new RuleInspector(alarms, clock), seen }
}

it('finds the shortest period of a rule, and none for a one-time alarm', async () => {
  const { looks } = looking()
  expect((await looks.inspect({ cron: '0,1 9 * * *' })).shortestMs).toBe(60_000)
  expect((await looks.inspect({ every: '1h' })).shortestMs).toBe(3_600_000)
  expect((await looks.inspect('in 5 minutes')).shortestMs).toBe(Number.POSITIVE_INFINITY)
})

it('ignores invalid rules: the call itself rejects them', async () => {
  const { looks } = looking()
  const unknown = { firstAt: undefined, shortestMs: Number.POSITIVE_INFINITY }
  expect(await looks.inspect({ cron: '61 * * * *' })).toEqual(unknown)
  expect(await looks.inspect('on the day of never')).toEqual(unknown)
})

it('inspects each rule once, and yields in between', async () => {
  const { looks, seen } = looking()
  for (let n = 0; n < 1000; n++) await looks.inspect({ every: `${1 + (n % 100)}h` })
  expect(seen).toEqual({ previews: 100, turns: 5 })
})

it('yields after each slow rule', async () => {
  const { looks, seen } = looking()
  const exclude = { weekend: [1, 2, 3, 4, 5, 6] }
  for (let n = 0; n < 5; n++)
    await looks.inspect({ rrule: `FREQ=MINUTELY;INTERVAL=1501;BYHOUR=3;BYMINUTE=${n};BYDAY=SU`, exclude })
  expect(seen).toEqual({ previews: 5, turns: 5 })
})
