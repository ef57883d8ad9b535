import { expect, test } from 'vitest'
import { testDatabase } from '../postgres/database.ts'
import { enterRunning } from './actors.ts'

const database = testDatabase()
let schemas = 0

/** A separate store for each test. */
function newStore(): { url: string; shards(): Promise<Map<string | null, number>> } {
  schemas += 1
  const schema = `s${schemas}`
  return {
    url: `${database.url}?schema=${schema}`,
    async shards() {
      const { rows } = await database.client.query<{ holder: string | null; n: string }>(
        `SELECT holder, count(*) AS n FROM ${schema}.shards WHERE pool = 'app' GROUP BY holder`,
      )
      return new Map(rows.map(({ holder, n }) => [holder, Number(n)]))
    },
  }
}

async function until(fits: () => Promise<boolean>, withinMs = 10_000): Promise<number> {
  const start = performance.now()
  while (!(await fits())) {
    if (performance.now() - start > withinMs) throw new Error('it never came to what was expected')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return performance.now() - start
}

function isEven(shards: Map<string | null, number>): boolean {
  return !shards.has(null) && shards.size === 2 && [...shards.values()].every((n) => n === 32)
}

test('two processes share the shards evenly, and each alarm fires once, in one of them', async () => {
  const { url, shards } = newStore()
  const actors = [await enterRunning(url), await enterRunning(url)]
  console.log(`even after ${Math.round(await until(async () => isEven(await shards())))} ms`)
  const messages: string[] = []
  for (let i = 0; i < 40; i++) {
    const message = `m${i}`
    messages.push(message)
    await actors[i % 2]!.set(200 + (i % 5) * 20, { message })
  }
  const fires = await Promise.all(messages.map((message) => Promise.any(actors.map((a) => a.fired(message)))))
  const late = fires.map(({ at, due }) => at - due).sort((a, b) => a - b)
  console.log(`ms after the instant: ${late.join(' ')}`)
  expect(late[0]).toBeGreaterThanOrEqual(0)
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(actors.flatMap((actor) => actor.fires.map(({ message }) => message)).sort()).toEqual(messages.sort())
  for (const actor of actors) expect(actor.fires.length).toBeGreaterThan(5)
})

test('a killed process is taken over, and its deliveries in flight become attempt 2 of the same occurrence', async () => {
  const { url, shards } = newStore()
  const [one, two] = [await enterRunning(url), await enterRunning(url)]
  await until(async () => isEven(await shards()))
  const messages = Array.from({ length: 20 }, (_, i) => `m${i}`)
  await Promise.all(
    messages.map((message) => one.set(0, { target: 'work', payload: { ms: 60_000 }, message })),
  )
  await Promise.all(messages.map((message) => Promise.any([one.fired(message), two.fired(message)])))
  const flying = [...one.fires]
  expect(flying.length).toBeGreaterThan(0)
  const killedAt = Date.now()
  await one.kill()
  const again = await Promise.all(flying.map(({ message }) => two.fired(message)))
  const elapsedMs = Math.max(...again.map(({ at }) => at)) - killedAt
  console.log(`taken over from a killed process: ${flying.length} in flight, ${elapsedMs} ms`)
  for (const { message, occurrenceId } of flying) {
    const second = again.find((fire) => fire.message === message)!
    expect(second).toMatchObject({ occurrenceId, attempt: 2 })
  }
})

test('a graceful close hands over, and nothing is delivered twice', async () => {
  const { url, shards } = newStore()
  const [one, two] = [await enterRunning(url), await enterRunning(url)]
  await until(async () => isEven(await shards()))
  await one.call('close')
  const closedAt = performance.now()
  const messages = Array.from({ length: 20 }, (_, i) => `m${i}`)
  await Promise.all(messages.map((message) => two.set(0, { message })))
  await Promise.all(messages.map((message) => two.fired(message)))
  const elapsedMs = performance.now() - closedAt
  console.log(`handed over after a graceful close: ${Math.round(elapsedMs)} ms`)
  expect(two.fires).toHaveLength(20)
})

test('a paused process loses its shards, and its later writes are rejected (fenced)', async () => {
  const { url } = newStore()
  const [one, two] = [await enterRunning(url), await enterRunning(url)]
  const messages = Array.from({ length: 20 }, (_, i) => `m${i}`)
  const ids = await Promise.all(
    messages.map(
      async (message) => (await one.set(0, { target: 'work', payload: { ms: 1_000 }, message })).id,
    ),
  )
  await until(async () => one.fires.length > 0)
  one.child.kill('SIGSTOP')
  const fires = [...one.fires]
  await Promise.all(fires.map(({ message }) => two.fired(message)))
  one.child.kill('SIGCONT')
  for (const id of ids) await two.until('get', [id], (alarm: { status: string }) => alarm.status === 'fired')
  const { rows } = await database.client.query<{ n: string }>(
    `SELECT count(*) AS n FROM s${schemas}.events WHERE type = 'alarm.fired'`,
  )
  expect(Number(rows[0]!.n)).toBe(20)
})
