import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { testDatabase } from './database.ts'

const { url, client } = testDatabase()

test('a database whose transactions are serializable by default refuses nothing for it', async () => {
  const name = new URL(url).pathname.slice(1)
  await client.query(`ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`)
  const troubles: unknown[] = []
  const all = await Promise.all([1, 2].map(() => open(url, { onTrouble: (thrown) => troubles.push(thrown) })))
  let fired = 0
  for (const wakeful of all) {
    wakeful.handle('count', () => {
      fired += 1
    })
    await wakeful.start()
  }
  const callers = Array.from({ length: 40 }, async (_, n) => {
    for (let i = 0; i < 10; i++) await all[n % 2]!.set('now', { target: 'count' })
    const { id } = await all[n % 2]!.set({ delay: '1h' }, { target: 'count', key: `k${n % 5}` })
    await all[(n + 1) % 2]!.cancel(id)
  })
  await Promise.all(callers)
  await expect.poll(() => fired, { timeout: 20_000 }).toBe(400)
  expect(troubles).toEqual([])
  for (const wakeful of all) await wakeful.close()
})
