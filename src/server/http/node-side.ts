import type { IncomingMessage } from 'node:http'

/** What is asked of a request's headers. */
export type HeaderReader = Pick<Headers, 'get'>

/** Headers that say who is meant: given twice, two readers of a request could go by different ones. */
const ONCE: ReadonlySet<string> = new Set(['host', 'authorization', 'wakeful-tenant', 'wakeful-owner'])

/** Which of these a request has twice, as it wrote it. */
export function givenTwice({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): string | undefined {
  const seen = new Set<string>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase()
    if (!ONCE.has(name)) continue
    if (seen.has(name)) return rawHeaders[at]
    seen.add(name)
  }
  return undefined
}

/** A request's headers as Node has read them already: making a `Headers` of them costs much of a small request. */
export class NodeHeaders implements HeaderReader {
  readonly #incoming: IncomingMessage

  constructor(incoming: IncomingMessage) {
    this.#incoming = incoming
  }

  get(name: string): string | null {
    const value = this.#incoming.headers[name]
    return value === undefined ? null : String(value)
  }
}
