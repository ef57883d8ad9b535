import { expect, it } from 'vitest'
import { locationOf, normalizeUrl, storeUrl } from './globals.ts'

it.each([
  ['alarms.db', 'sqlite:alarms.db'],
  ['./a b/alarms.db', 'sqlite:./a b/alarms.db'],
  ['sqlite:alarms.db', 'sqlite:alarms.db'],
  [':memory:', 'sqlite::memory:'],
  ['C:\\data\\alarms.db', 'sqlite:C:\\data\\alarms.db'],
  ['postgres://host/db', 'postgres://host/db'],
])('reads %s as %s', (input, url) => {
  expect(normalizeUrl(input)).toBe(url)
})

it('prefers --db to WAKEFUL_DB to the default', () => {
  expect(locationOf({ db: 'a.db' }, { WAKEFUL_DB: 'b.db' })).toEqual({ kind: 'store', url: 'sqlite:a.db' })
  expect(locationOf({}, { WAKEFUL_DB: 'b.db' })).toEqual({ kind: 'store', url: 'sqlite:b.db' })
  expect(locationOf({}, {})).toEqual({ kind: 'store', url: 'sqlite:./wakeful.db' })
  expect(() => locationOf({ db: ' ' }, {})).toThrow(
    expect.objectContaining({ reason: 'field.empty', field: 'db' }),
  )
})

it('uses a named server, unless --db overrides WAKEFUL_URL', () => {
  const server = { kind: 'server', url: 'http://x' }
  expect(locationOf({ url: 'http://x' }, { WAKEFUL_DB: 'b.db' })).toEqual(server)
  expect(locationOf({}, { WAKEFUL_URL: 'http://x', WAKEFUL_DB: 'b.db' })).toEqual(server)
  expect(locationOf({ db: 'a.db' }, { WAKEFUL_URL: 'http://x' })).toEqual({
    kind: 'store',
    url: 'sqlite:a.db',
  })
  expect(locationOf({}, { WAKEFUL_URL: 'http://x', WAKEFUL_KEY: 'wk_a_b\n' })).toEqual({
    ...server,
    key: 'wk_a_b',
  })
  expect(() => locationOf({ db: 'a.db', url: 'http://x' }, {})).toThrow('Use one of them')
  expect(() => locationOf({ url: '' }, {})).toThrow(
    expect.objectContaining({ reason: 'field.empty', field: 'url' }),
  )
})

it('says that a command needs a store, and that WAKEFUL_URL named a server', () => {
  expect(() => storeUrl({ url: 'http://x' }, {}, 'backup')).toThrow(/^backup works on a store only/)
  expect(() => storeUrl({}, { WAKEFUL_URL: 'http://x' }, 'backup')).toThrow(
    /^backup works on a store only, and WAKEFUL_URL names a server/,
  )
  expect(storeUrl({ db: 'a.db' }, { WAKEFUL_URL: 'http://x' }, 'backup')).toBe('sqlite:a.db')
})
