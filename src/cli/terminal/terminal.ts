import type { Readable } from 'node:stream'
import type { OpenOptions, Wakeful } from '../../index.ts'

/** Where lines go: a stream that may be a terminal. */
export interface Sink {
  write(text: string, done?: () => void): unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

/** All that a command knows of the process around it, so that tests can stand in for it. */
export interface Terminal {
  readonly stdout: Sink
  readonly stderr: Sink
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly env: Readonly<Record<string, string | undefined>>
  readonly pid: number
  /** Wall time in epoch milliseconds. */
  now(): number
  /** Milliseconds that never go back. */
  monotonic(): number
  /** Calls back on each SIGINT and SIGTERM; answers how to stop listening. */
  onSignal(listener: (signal: string) => void): () => void
  /** Ends the process at once. */
  exit(code: number): void
}

/** The columns of a stream that is a terminal; null where it is none. */
export function widthOf(sink: Sink): number | null {
  return sink.isTTY === true ? (sink.columns ?? 80) : null
}

/** Styles text for a terminal that shows colours, and leaves it alone elsewhere. */
export function paint(
  terminal: Terminal,
  style: 'dim' | 'bold' | 'red' | 'green' | 'yellow',
  text: string,
): string {
  if (terminal.stdout.isTTY !== true || (terminal.env.NO_COLOR ?? '') !== '' || terminal.env.TERM === 'dumb')
    return text
  const code = { dim: 2, bold: 1, red: 31, green: 32, yellow: 33 }[style]
  const end = { dim: 22, bold: 22, red: 39, green: 39, yellow: 39 }[style]
  return `\u001B[${code}m${text}\u001B[${end}m`
}

/** Everything a command works with: the process around it, and how to reach a store. */
export interface Shell {
  readonly terminal: Terminal
  readonly open: (url: string, options: OpenOptions) => Promise<Wakeful>
  readonly version: string
  /** How this program was called, for commands that users may copy: `wakeful`, or through npm in a clone. */
  readonly invocation: string
  /** Set where a command did its work and yet has to answer that something failed. */
  exitCode: 0 | 1
}
