import { expect, it } from 'vitest'
import { wakeful } from './command-line.ts'

it('lists keys in the order of their creation', async () => {
  const labels = Array.from({ length: 6 }, (_, at) => `key-${at}`)
  for (const label of labels) expect((await wakeful(['keys', 'create', '--label', label])).code).toBe(0)
  const { items } = JSON.parse((await wakeful(['keys', 'list', '--json'])).stdout)
  expect(items.map(({ label }: { label: string }) => label)).toEqual(labels)
})
