import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Hono } from 'hono'
import { WakefulError } from '../../error.ts'
import { refusal } from '../http/index.ts'

/** Pages outside of docs/ that the docs link to. */
const ROOT_PAGES = ['README.md', 'CHANGELOG.md']
const INDEX = '/llms.txt'
const CACHED = 'public, max-age=300'

interface Page {
  readonly text: string
  readonly etag: string
}

/** For people who open the address in a browser. */
const WELCOME = `Wakeful: durable alarms as a service. This is its HTTP API.

/llms.txt                the docs, page by page
/docs/guides/serve.md    how to begin
/openapi.json            every call, for programs
/healthz, /readyz        whether it is healthy
`

/** Adds the docs as Markdown: `/llms.txt` lists them, and `/` says where to look. They are public and need no key. */
export function addPages(app: Hono): void {
  let pages: Promise<ReadonlyMap<string, Page>> | undefined
  app.get('/', (c) => c.text(WELCOME, 200, { 'cache-control': CACHED }))
  for (const path of [INDEX, '/docs/*', ...ROOT_PAGES.map((name) => `/${name}`)])
    app.get(path, async ({ req }) => {
      // Read once, on the first request. A path is only looked up in the result, never opened.
      pages ??= readPages()
      const page = (await pages).get(req.path)
      return page === undefined
        ? refusal(new WakefulError('request.no_such_page', { path: req.path.slice(0, 200) }))
        : answer(page, req.path, req.raw)
    })
}

function answer({ text, etag }: Page, path: string, { headers }: Request): Response {
  const known = { etag, 'cache-control': CACHED }
  if (headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers: known })
  const type = path.endsWith('.md') ? 'text/markdown' : 'text/plain'
  return new Response(text, { headers: { ...known, 'content-type': `${type}; charset=utf-8` } })
}

async function readPages(): Promise<ReadonlyMap<string, Page>> {
  const folder = packageFolder()
  if (folder === null) return new Map()
  const inDocs = await readdir(join(folder, 'docs'), { recursive: true }).catch(() => [])
  const files = [
    ...ROOT_PAGES.map((name) => [`/${name}`, name] as const),
    ...inDocs
      .filter((name) => name.endsWith('.md'))
      .map((name) => [`/docs/${name.split(sep).join('/')}`, join('docs', name)] as const),
    [INDEX, join('docs', 'llms.txt')] as const,
  ]
  const pages = new Map<string, Page>()
  for (const [path, file] of files) {
    const text = await readFile(join(folder, file), 'utf8').catch(() => null)
    if (text === null) continue
    const digest = createHash('sha256').update(text).digest('base64url').slice(0, 22)
    pages.set(path, { text, etag: `"${digest}"` })
  }
  return pages
}

/** The folder of this package, which this file may be at different depths of; null in a bundle, which has no docs. */
function packageFolder(): string | null {
  // Undefined in a bundle of CommonJS.
  const url: string | undefined = import.meta.url
  if (url === undefined) return null
  for (let folder = dirname(fileURLToPath(url)); folder !== dirname(folder); folder = dirname(folder))
    if (isPackage(join(folder, 'package.json'))) return folder
  return null
}

function isPackage(file: string): boolean {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { name?: unknown }).name === 'wakeful'
  } catch {
    return false
  }
}
