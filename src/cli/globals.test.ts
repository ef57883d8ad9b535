import { expect, it } from 'vitest'
import { fileOf, normalizeUrl, storeUrl } from './globals.ts'

it.each([
  ['alarms.db', 'sqlite:alarms.db'],
  ['./a b/alarms.db', 'sqlite:./a b/alarms.db'],
  ['sqlite:alarms.db', 'sqlite:alarms.db'],
  [':memory:', 'sqlite::memory:'],
  ['C:\\data\\alarms.db', 'sqlite:C:\\data\\alarms.db'],
  ['postgres://host/db', 'postgres://host/db'],
])('reads %s as %s', (given, url) => {
  expect(normalizeUrl(given)).toBe(url)
})

it('prefers --db to WAKEFUL_DB to the default', () => {
  expect(storeUrl({ db: 'a.db' }, { WAKEFUL_DB: 'b.db' })).toBe('sqlite:a.db')
  expect(storeUrl({}, { WAKEFUL_DB: 'b.db' })).toBe('sqlite:b.db')
  expect(storeUrl({}, {})).toBe('sqlite:./wakeful.db')
})

it('says clearly that servers come later', () => {
  expect(() => storeUrl({ url: 'http://x' }, {})).toThrow(/later version/)
  expect(() => storeUrl({}, { WAKEFUL_URL: 'http://x' })).toThrow(/WAKEFUL_URL is set/)
  expect(storeUrl({ db: 'a.db' }, { WAKEFUL_URL: 'http://x' })).toBe('sqlite:a.db')
})

it('knows which stores lie in a file', () => {
  expect(fileOf('sqlite:./wakeful.db')).toBe('./wakeful.db')
  expect(fileOf('sqlite:///var/x.db')).toBe('/var/x.db')
  expect(fileOf('SQLite:x.db')).toBe('x.db')
  expect(fileOf('sqlite::memory:')).toBeNull()
  expect(fileOf('postgres://host/db')).toBeNull()
})
