import type { IncomingMessage } from 'node:http'

/** What is asked of a request's headers. */
export type HeaderReader = Pick<Headers, 'get'>

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
