import { existsSync, globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { REASONS } from '../src/errors/index.ts'

const read = (path: string) => readFileSync(path, 'utf8')

it('the troubleshooting page names reasons of errors that exist', () => {
  const rows = read('docs/troubleshooting.md')
    .match(/^\| [45]\d\d .*?(?= \|)/gm)!
    .join('\n')
  const named = [...rows.matchAll(/`([a-z]+\.[a-z_]+)`/g)].map(([, id]) => id!)
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter((id) => !(id in REASONS))).toEqual([])
})

it('the architecture page names files and folders that exist', () => {
  const all = globSync(['src/**', 'test/**', 'bench/**', 'tools/**', 'docs/**'])
  const isThere = (name: string) => existsSync(name) || all.some((path) => path.endsWith(`/${name}`))
  const named = [...read('docs/architecture.md').matchAll(/`([\w./-]+(?:\.ts|\/))`/g)].map(([, name]) =>
    name!.replace(/\/$/, ''),
  )
  expect(named.length).toBeGreaterThan(50)
  expect(named.filter((name) => !isThere(name))).toEqual([])
})
