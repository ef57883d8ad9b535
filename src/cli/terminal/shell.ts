import type { OpenOptions, Wakeful } from '../../index.ts'
import type { Terminal } from './terminal.ts'

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
