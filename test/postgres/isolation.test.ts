import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { testDatabase } from './database.ts'

const { url, client } = testDatabase()

test('works with unusual database defaults: serializable transactions, lists without NULL', async () => {
  const name = new URL(url).pathname.slice(1)
  await client.query(`ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`)
  await client.query(`ALTER DATABASE ${name} SET array_nulls = off`)
  const errors: unknown[] = []
  const all = await Promise.all([1, 2].map(() => open(url, { onError: (thrown) => errors.push(thrown) })))
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
  expect(errors).toEqual([])
  const { lastError, key } = (await all[0]!.list({ status: 'fired' })).items[0]!
  expect([lastError, key]).toEqual([null, null])
  for (const wakeful of all) await wakeful.close()
})

test('a database whose encoding cannot store all text is rejected, with suitable ones named', async () => {
  const at = new URL(url)
  await client.query(`CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`)
  at.pathname = '/latin'
  await expect(open(at.href)).rejects.toMatchObject({ code: 'store_unavailable', message: /LATIN1.*UTF8/ })
  await client.query('DROP DATABASE latin WITH (FORCE)')
})
