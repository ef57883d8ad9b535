import { globSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { expect, it } from 'vitest'
import { serving } from './harness.ts'

const { url, call } = await serving()

/** Sent unchanged: `fetch` would resolve the dots itself. */
function raw(path: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    request(url, { path }, (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += String(chunk)
      })
      response.on('end', () => resolve({ status: response.statusCode!, text }))
    })
      .on('error', reject)
      .end()
  })
}

it('serves every page of the docs as Markdown, and an index that names each', async () => {
  const index = await call('GET', '/llms.txt')
  expect(index.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect(index.text).toBe(readFileSync('docs/llms.txt', 'utf8'))
  const pages = globSync('docs/**/*.md').sort()
  expect(pages.filter((page) => !index.text.includes(`(/${page})`))).toEqual([])
  for (const page of ['README.md', ...pages]) {
    const { status, headers, text } = await call('GET', `/${page}`)
    expect([page, status, headers.get('content-type')]).toEqual([page, 200, 'text/markdown; charset=utf-8'])
    expect(text).toBe(readFileSync(page, 'utf8'))
  }
})

it('says at / where to begin, and names only what exists', async () => {
  const { status, headers, text } = await call('GET', '/')
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=UTF-8'])
  const named = text.match(/\/[a-z][\w./-]*/g) ?? []
  expect(named).toEqual(expect.arrayContaining(['/llms.txt', '/openapi.json', '/healthz']))
  for (const path of named) expect([path, (await call('GET', path)).status]).not.toEqual([path, 404])
  expect((await call('POST', '/')).status).toBe(404)
})

it('answers 304 to a client that has the current page', async () => {
  const { headers } = await call('GET', '/llms.txt')
  expect(headers.get('cache-control')).toBe('public, max-age=300')
  const again = await call('GET', '/llms.txt', undefined, { 'if-none-match': headers.get('etag')! })
  expect([again.status, again.text]).toEqual([304, ''])
})

it('serves nothing but pages', async () => {
  for (const path of [
    '/docs/../package.json',
    '/docs/..%2fpackage.json',
    '/docs/%2e%2e/package.json',
    '/docs//../../package.json',
    '/docs/..%5cpackage.json',
    '/docs/guides/../../../package.json',
    '/docs/guides',
    '/docs/',
    '/docs/llms.txt',
    '/docs/guides/serve.md%00.txt',
    '/docs/GUIDES/serve.md',
    '/CONTRIBUTING.md',
  ]) {
    const { status, text } = await raw(path)
    expect([path, status]).toEqual([path, 404])
    expect(JSON.parse(text).code).toBe('not_found')
  }
})

it('needs no key for them', async () => {
  await call('POST', '/v1/keys', { tenant: '*', rights: 'admin' })
  expect((await call('GET', '/docs/guides/serve.md')).status).toBe(200)
})
