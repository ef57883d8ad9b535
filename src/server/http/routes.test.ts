import type { IncomingMessage } from 'node:http'
import { expect, it, test } from 'vitest'
import { operations } from '../../contracts/index.ts'
import { routeOf } from './routes.ts'

const asked = (method: string, url: string, host: string | undefined = '127.0.0.1:7465') =>
  routeOf({ method, url, headers: { host } } as IncomingMessage)

it('finds every operation by its method and path', () => {
  for (const [name, { method, path }] of Object.entries(operations)) {
    const url = path.replace(/\{\w+\}/g, 'x%20y')
    expect(asked(method, `${url}?a=b`)).toMatchObject({ name, search: '?a=b' })
    const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, param]) => [param, 'x y'])
    expect(asked(method, url)?.params).toEqual(Object.fromEntries(params))
  }
})

it('answers who asks for a head as who asks for the whole', () => {
  expect(asked('HEAD', '/v1/alarms')?.name).toBe('list')
})

it('takes nothing for a head: no wake, and no ticket', () => {
  expect(asked('HEAD', '/v1/inbox')).toBeNull()
  expect(asked('HEAD', '/v1/events/stream?ticket=wt_x')).toBeNull()
})

test.each([
  ['/v1/alarms/a%2Fb', 'a/b'],
  ['/v1/alarms/%E2%82%AC', '€'],
  ['/v1/alarms/100%', '100%'],
  ['/v1/alarms/%ff', '%ff'],
  ['/v1/x/../alarms/a', 'a'],
  ['/v1/alarms/./a', 'a'],
  ['http://other.example/v1/alarms/a', 'a'],
  ['/v1/alarms/a"b', 'a"b'],
])('reads %s as the alarm %s', (url, id) => {
  expect(asked('GET', url)).toMatchObject({ name: 'get', params: { id } })
})

test.each([
  ['/v1/alarms/', 'an empty part'],
  ['/v1/alarms//', 'empty parts'],
  ['/v1/alarm', 'another path'],
  ['/v1/alarms/a/b/c', 'a longer one'],
  ['/v1\\alarms', 'a backslash'],
  ['/v1/alarms\u0000', 'a control character'],
  ['/v1/ålarms', 'what is not ASCII'],
  ['*', 'no path'],
  ['ftp://x/v1/alarms', 'another scheme'],
  ['http://[/v1/alarms', 'no URL'],
  ['', 'nothing'],
])('leaves %j to others: it is %s', (url) => {
  expect(asked('GET', url)).toBeNull()
})

test.each([undefined, '', 'a b', 'exa\u00e4mple', 'a/b', 'user@host', '127.0.0.1:port'])(
  'leaves a request with the Host %j to others',
  (host) => {
    expect(routeOf({ method: 'GET', url: '/v1/alarms', headers: { host } } as IncomingMessage)).toBeNull()
  },
)

it('leaves a method that is not there to others', () => {
  expect(asked('OPTIONS', '/v1/alarms')).toBeNull()
  expect(asked('DELETE', '/v1/alarms')).toBeNull()
  expect(asked('get', '/v1/alarms')).toBeNull()
})
