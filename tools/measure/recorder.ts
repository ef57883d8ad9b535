import { channel } from 'node:diagnostics_channel'
import { CallPaths, longest } from './call-path.ts'
import { Coverage, type Entered } from './coverage.ts'
import { listenToStatements } from './statements.ts'

/** What one run of a walk showed. */
export interface Round {
  readonly entered: Entered
  /** From the start to each end of the walk, file by file. */
  readonly paths: readonly (readonly string[])[]
  readonly durationMs: number
}

/** How a round knows that it is over. */
export interface RoundEnd {
  /** The statement that writes the walk's row. The round is over when it is committed. */
  readonly row: RegExp
  /** Whether the walk also leads to an HTTP request, which must have been sent before. */
  readonly sendsRequest: boolean
}

const END_MS_MAX = 60_000
/** Published by undici, also by fetch, and by node:http. */
const REQUESTS = ['undici:request:create', 'http.client.request.created']

/** Records which files run, from a start until a row is committed. */
export class Recorder {
  readonly coverage = new Coverage()
  readonly #paths = new CallPaths()
  readonly #ignore: () => void
  readonly #onRequest = () => this.#sent()
  #end: RoundEnd | null = null
  #toRow = new Map<object, string[][]>()
  #toRequest: string[] | null = null
  #over: (path: readonly string[]) => void = () => {}

  constructor() {
    this.#ignore = listenToStatements({
      running: (connection, sql) => this.#running(connection, sql),
      committed: (connection) => this.#committed(connection),
    })
    for (const name of REQUESTS) channel(name).subscribe(this.#onRequest)
  }

  /** Starts `call` and answers when the row is committed and `call` has ended. */
  async round(end: RoundEnd, call: () => Promise<unknown>): Promise<Round> {
    let entered: Entered = new Map()
    const way = await this.#run(end, call, () => {
      entered = this.coverage.read()
    })
    return { entered, ...way }
  }

  /**
   * The files in the order of their first use. Coverage has no order, so it is taken at every asynchronous step; what
   * runs within one step is ordered by the stack, then by name.
   */
  async order(end: RoundEnd, call: () => Promise<unknown>): Promise<string[]> {
    const seen = new Set<string>()
    const see = (stack: readonly string[]) => {
      const entered = this.coverage.read()
      for (const path of [...stack.filter((file) => entered.has(file)), ...[...entered.keys()].sort()])
        seen.add(path)
    }
    await this.#run(end, call, () => see([]), see)
    return [...seen]
  }

  close(): void {
    this.#ignore()
    for (const name of REQUESTS) channel(name).unsubscribe(this.#onRequest)
    this.coverage.close()
  }

  async #run(
    end: RoundEnd,
    call: () => Promise<unknown>,
    atEnd: () => void,
    onStep?: (stack: readonly string[]) => void,
  ): Promise<Omit<Round, 'entered'>> {
    const over = Promise.withResolvers<Omit<Round, 'entered'>>()
    this.#toRow = new Map()
    this.#toRequest = null
    this.#over = (path) => {
      atEnd()
      this.#stop()
      const paths = this.#toRequest === null ? [path] : [this.#toRequest, path]
      over.resolve({ paths, durationMs: performance.now() - startedAt })
    }
    const late = setTimeout(() => over.reject(new Error(missing(end))), END_MS_MAX)
    this.#end = end
    this.coverage.read()
    const startedAt = performance.now()
    this.#paths.start(onStep)
    try {
      const [way] = await Promise.all([over.promise, call()])
      return way
    } finally {
      clearTimeout(late)
      this.#stop()
    }
  }

  #stop(): void {
    this.#paths.stop()
    this.#end = null
  }

  #running(connection: object, sql: string): void {
    if (/^\s*rollback\s*;?\s*$/i.test(sql)) this.#toRow.delete(connection)
    if (this.#end === null || !this.#end.row.test(sql)) return
    // While the clock runs, the first file is whichever loop happens to be next: the request tells where its walk began.
    const from = this.#end.sendsRequest ? this.#toRequest?.[0] : this.#paths.first()
    const path = this.#paths.here(from)
    this.#toRow.set(connection, [...(this.#toRow.get(connection) ?? []), path])
  }

  #committed(connection: object): void {
    const paths = this.#toRow.get(connection)
    this.#toRow.delete(connection)
    if (this.#end === null || paths === undefined) return
    if (!this.#end.sendsRequest || this.#toRequest !== null) this.#over(longest(paths))
  }

  #sent(): void {
    if (this.#end?.sendsRequest === true) this.#toRequest ??= this.#paths.here()
  }
}

function missing({ row, sendsRequest }: RoundEnd): string {
  const request = sendsRequest ? ' after an HTTP request' : ''
  return `no statement that matches ${row} was committed${request} within ${END_MS_MAX / 1_000} s`
}
