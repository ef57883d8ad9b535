import { expect, it } from 'vitest'
import { open } from '../../index.ts'
import { isPostgres, storeFile, storePath } from './store-url.ts'

it('reads a scheme in whatever case', () => {
  expect(isPostgres('Postgres://host/app')).toBe(true)
  expect(isPostgres('POSTGRESQL://host/app')).toBe(true)
  expect(storePath('SQLite:alarms.db')).toBe('alarms.db')
})

it.each([
  'postgre://wakeful:secret@host/app',
  'postgress://wakeful:secret@host/app',
  'pg://wakeful:secret@host/app',
  'postgre:wakeful:secret@host/app',
])('says what would be right for %s, without its password', async (url) => {
  const failure = await open(url).catch((thrown: unknown) => thrown as Error)
  expect(failure).toMatchObject({ code: 'invalid_request', message: /write postgres:\/\/user:password@host/ })
  expect((failure as Error).message).not.toContain('secret')
})

it('names no more than the scheme of another kind of store', () => {
  expect(() => storePath('mysql://wakeful:secret@host/app')).toThrow(
    /^Unknown kind of store mysql\. Use sqlite:/,
  )
})

it('knows the file of a store', () => {
  expect(storeFile('sqlite:./wakeful.db')).toBe('./wakeful.db')
  expect(storeFile('sqlite:///var/x.db')).toBe('/var/x.db')
  expect(storeFile('SQLite:x.db')).toBe('x.db')
  expect(storeFile('sqlite::memory:')).toBeNull()
  expect(storeFile('postgres://host/db')).toBeNull()
})
