import { expect, test } from 'vitest'
import { assertUrlTemplate, fillUrl } from './url-template.ts'
import type { Wake } from './wake-body.ts'

const alarm = { owner: 'did:matrix:ann:key', key: null, label: 'a/b ?#&', subject: 'x', message: 'm' }
const wakeOf = (fields: object = {}) =>
  ({ alarm: { ...alarm, ...fields }, timer: { scheduledFor: 0, attempt: 0 }, firedAt: 0 }) as unknown as Wake
const filled = (template: string, fields?: object) => fillUrl(template, wakeOf(fields)).href

test('a URL without placeholders stays as it is', () => {
  expect(filled('https://a.example/b?c=%20{d}')).toBe('https://a.example/b?c=%20{d}')
})

test('placeholders in path and query are filled in, percent-encoded', () => {
  expect(filled('https://a.example/wake/{{user_id}}')).toBe('https://a.example/wake/ann')
  expect(filled('https://a.example/w-{{ label }}?o={{owner}}&n={{attempt}}')).toBe(
    'https://a.example/w-a%2Fb%20%3F%23%26?o=did%3Amatrix%3Aann%3Akey&n=1',
  )
})

test.each([
  '@evil.example',
  'a/../../admin',
  '//evil.example',
  '\\evil.example',
  ':80@evil.example/',
  '?x#y',
  '%2e%2e',
  'é😀',
  '\r\nhost: x',
])('the owner %j changes neither host nor path', (owner) => {
  const url = new URL(filled('https://a.example/wake/{{owner}}/now', { owner }))
  expect(url.host).toBe('a.example')
  expect(url.pathname.split('/').map(decodeURIComponent)).toEqual(['', 'wake', owner, 'now'])
  expect([url.search, url.hash]).toEqual(['', ''])
})

test.each([
  ['..', 'would change its path'],
  ['.', 'would change its path'],
  ['', '{{owner}} is empty'],
])('the owner %j is refused for good', (owner, message) => {
  try {
    expect(filled('https://a.example/wake/{{owner}}', { owner })).toBe('refused')
  } catch (thrown) {
    expect(thrown).toMatchObject({ final: true, message: expect.stringContaining(message) })
  }
  expect.assertions(1)
})

test.each([
  'https://a.example/%{{owner}}',
  'https://a.example/x?y=%2{{label}}',
  'https://a.example/%%F{{ key }}',
])('refuses %s, whose percent sign would decode the value', (template) => {
  expect(() => assertUrlTemplate(template)).toThrow(
    expect.objectContaining({ reason: 'webhook.placeholder_after_percent', field: 'webhook' }),
  )
})

test('takes a percent sign that is encoded, or complete, before a value', () => {
  for (const before of ['%25', '%2F', '%25-', '%20']) {
    assertUrlTemplate(`https://a.example/${before}{{owner}}`)
    expect(filled(`https://a.example/${before}{{owner}}`, { owner: '41' })).toBe(
      `https://a.example/${before}41`,
    )
  }
})

test('two values together cannot be two dots, and null is refused', () => {
  expect(() => filled('https://a.example/{{owner}}{{label}}/x', { owner: '.', label: '.' })).toThrow('path')
  expect(() => filled('https://a.example/{{key}}')).toThrow('{{key}} is empty')
})

test('a URL that would become too long is refused', () => {
  const template = `https://a.example/?${'{{owner}}'.repeat(20)}`
  expect(() => filled(template, { owner: 'é'.repeat(200) })).toThrow('8192')
})

test.each([
  ['https://{{user_id}}.example.com/', 'in its host'],
  ['https://a.example{{user_id}}/', 'in its host'],
  ['https://a.example:{{attempt}}', 'in its host'],
  ['https://a.example/{{user}}', 'unknown placeholder "{{user}}"'],
  ['https://a.example/{{payload}}', 'Known in a URL: alarm_id'],
  ['https://a.example/{{payload.a}}', 'Known in a URL'],
  ['https://a.example/{{wake_message}}', 'Known in a URL'],
])('%s is refused when it is set', (url, message) => {
  expect(() => assertUrlTemplate(url)).toThrow(message)
})

test.each(['https:///{{user_id}}/x', 'https:{{user_id}}/x', 'http:\\\\{{user_id}}/x', 'https://{{user_id}}'])(
  'the template %j, whose host is a placeholder, is refused',
  (template) => {
    expect(() => assertUrlTemplate(template)).toThrow('host')
  },
)
