import { afterEach, expect, it } from 'vitest'
import { open, type Wakeful } from '../../src/index.ts'
import { testDatabase } from '../postgres/database.ts'

const { url } = testDatabase()
const opened: Wakeful[] = []
afterEach(async () => {
  for (const wakeful of opened.splice(0)) await wakeful.close()
})

async function boot(): Promise<Wakeful> {
  const wakeful = await open(url)
  opened.push(wakeful)
  return wakeful
}

const KEYS = Array.from({ length: 20 }, (_, i) => `job-${i}`)
const list = (label: string, keys: readonly string[] = KEYS) =>
  keys.map((key) => ({ key, when: { every: '1h' }, target: { event: true }, label }))

it('lets processes that boot at the same time declare the same list', async () => {
  const processes = await Promise.all([boot(), boot(), boot()])
  const applied = await Promise.all(
    processes.map((wakeful, i) => wakeful.apply(i === 1 ? list('1').reverse() : list('1'), { prune: true })),
  )
  expect(applied.flatMap(({ created }) => created).sort()).toEqual([...KEYS].sort())
  expect(applied.flatMap(({ unchanged }) => unchanged)).toHaveLength(2 * KEYS.length)
  for (const { changed, removed } of applied) expect([changed, removed]).toEqual([[], []])
  const next = await Promise.all(
    processes.map((wakeful) => wakeful.apply(list('2', KEYS.slice(5)), { prune: true })),
  )
  expect(next.flatMap(({ changed }) => changed).sort()).toEqual(KEYS.slice(5).sort())
  expect(next.flatMap(({ removed }) => removed).sort()).toEqual(KEYS.slice(0, 5).sort())
  const { items } = await processes[0]!.list({ status: 'active' })
  expect(items.map(({ label }) => label)).toEqual(KEYS.slice(5).map(() => '2'))
})
