import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { stripTypeScriptTypes } from 'node:module'
import type { AddressInfo } from 'node:net'
import { resolve, sep } from 'node:path'

/** A separate origin that serves a page with the client, and this checkout's sources as a browser reads them. */
export interface PageServer {
  readonly origin: string
  /** The sources that were requested. */
  readonly served: ReadonlySet<string>
  close(): void
}

const PAGE = `<!doctype html><meta charset="utf-8"><title>a page</title>
<script type="module">
  import * as client from '/src/client/index.ts'
  globalThis.wakeful = client
</script>`

/** Serves sources with their types stripped. Nothing is bundled, so that everything the client imports is loaded. */
export async function startPageServer(): Promise<PageServer> {
  const root = resolve('src') + sep
  const served = new Set<string>()
  const server = createServer((request, response) => {
    const path = new URL(request.url!, 'http://x').pathname
    if (path === '/') {
      response.setHeader('content-type', 'text/html')
      response.end(PAGE)
      return
    }
    const file = resolve(`.${path}`)
    if (!file.startsWith(root) || !file.endsWith('.ts')) {
      response.statusCode = 404
      response.end()
      return
    }
    served.add(path.slice(1))
    response.setHeader('content-type', 'text/javascript; charset=utf-8')
    response.end(stripTypeScriptTypes(readFileSync(file, 'utf8')))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    served,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
