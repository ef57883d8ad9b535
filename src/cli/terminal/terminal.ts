import type { Readable } from 'node:stream'
import { styleText } from 'node:util'
import { type Column, table, wrap } from '../text/index.ts'

/** An output stream, which may be a terminal. */
export interface Sink {
  write(text: string, done?: () => void): unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

/** The process around a command, which tests replace. */
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
  /** Calls the listener on each SIGINT and SIGTERM; returns how to stop listening. */
  onSignal(listener: (signal: string) => void): () => void
  exit(code: number): void
}

/** The width of a terminal; null for other streams. */
export function widthOf(sink: Sink): number | null {
  return sink.isTTY === true ? (sink.columns ?? 80) : null
}

/** Styles text, if the output is a terminal with colours. */
export function paint({ stdout, env }: Terminal, style: 'dim' | 'red' | 'green', text: string): string {
  const isPlain = stdout.isTTY !== true || (env.NO_COLOR ?? '') !== '' || env.TERM === 'dumb'
  return isPlain ? text : styleText(style, text, { validateStream: false })
}

/** The context of a command. */
export interface CliContext {
  readonly terminal: Terminal
  readonly version: string
  /** How to call this program, for commands that users copy: `wakeful`, or through npm in a clone. */
  readonly invocation: string
  /** 1 if a command finished, but a part of it failed. */
  exitCode: 0 | 1
}

/** Prints the result of a command, as text or as JSON. */
export class Output {
  readonly json: boolean
  readonly terminal: Terminal

  constructor(terminal: Terminal, json: boolean) {
    this.terminal = terminal
    this.json = json
  }

  /** Prints the result: this JSON, or lines. */
  print(json: string, lines: () => readonly string[]): void {
    for (const line of this.json ? [json] : lines()) this.line(line)
  }

  line(text: string): void {
    this.terminal.stdout.write(`${text}\n`)
  }

  /** Prints a note to stderr, so that pipes do not get it. */
  note(text: string): void {
    this.terminal.stderr.write(`${wrap(text, widthOf(this.terminal.stderr), '')}\n`)
  }

  /** Rows as lines, of the first set of columns that fits on a terminal; other output is never cut. */
  rows<Row>(sets: readonly (readonly Column<Row>[])[], rows: readonly Row[]): string[] {
    const { titles, lines } = table(sets, rows, this.width)
    return [...titles.map((title) => paint(this.terminal, 'dim', title)), ...lines]
  }

  get width(): number | null {
    return widthOf(this.terminal.stdout)
  }
}
