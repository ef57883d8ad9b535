import { expect, it } from 'vitest'
import { addressOf } from './address.ts'

const at = (rest: string) => addressOf({ url: `postgres://wakeful:secret@host/app${rest}` })

it('takes out of a URL what is Wakeful’s, and leaves what is pg’s', () => {
  const { url, schema, pooler } = at('?schema=alarms&pooler=yes&application_name=x&connect_timeout=5')
  expect({ schema, pooler }).toEqual({ schema: 'alarms', pooler: true })
  expect(url.search).toBe('?application_name=x&connect_timeout=5')
})

it.each([
  ['?shema=x', /"shema" .* Did you mean schema\?/],
  ['?SCHEMA=x', /Did you mean schema\?/],
  ['?colour=blue', /"colour" .* Wakeful’s own are schema, pooler, prepare/],
  ['?sslmode=requir', /sslmode=requir .* must be one of disable/],
])('refuses %s', (rest, message) => {
  expect(() => at(rest)).toThrow(message)
})

it('asks pg for what it does with every mode of TLS, in the words of which it does not warn', () => {
  for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full'])
    expect(at(`?sslmode=${mode}`).url.search).toBe('?sslmode=verify-full')
  for (const kept of ['?sslmode=disable', '?sslmode=no-verify', '?uselibpqcompat=true&sslmode=require'])
    expect(at(kept).url.search).toBe(kept)
})

it.each([
  'postgres:wakeful:secret@host/app',
  'postgres://wakeful:sec/secret@host/app',
  'postgres://wakeful:1/secret@host/app',
  'postgres://wakeful:1#secret@host/app',
  'postgres://wakeful:1?secret@host/app',
])('says nothing of a password where the URL is wrong: %s', (url) => {
  let thrown: unknown
  try {
    addressOf({ url })
  } catch (caught) {
    thrown = caught
  }
  expect(thrown).toMatchObject({ code: 'invalid_request' })
  expect((thrown as Error).cause).toBeUndefined()
  expect((thrown as Error).message).not.toContain('secret')
})
