import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Breach } from '../judge/breach.ts'

/** An edit that plants a bug in the sources. */
export interface Edit {
  readonly file: string
  readonly from: string
  readonly to: string
}

/** A planted bug, and what must find it. */
export interface Planted {
  readonly bug: string
  readonly edits: readonly Edit[]
  readonly by: Finder
}

/**
 * A campaign with these arguments must report one of these violations; or one of the first simulated seeds must; or
 * this test must fail.
 */
export type Finder =
  | { readonly campaign: readonly string[]; readonly breaches: readonly (Breach | 'damage')[] }
  | {
      readonly simulation: { readonly seeds: number; readonly isBoot?: boolean }
      readonly breaches: readonly Breach[]
    }
  | { readonly test: string; readonly file: string }

/** The directory of the project. */
export const root = fileURLToPath(new URL('../..', import.meta.url))
const COPIED = ['src', 'test', 'package.json', 'vitest.config.ts']

/** A copy of the sources in which bugs are planted, so that the sources stay unchanged. */
export class Copy {
  readonly path = mkdtempSync(join(tmpdir(), 'wakeful-planted-'))

  constructor() {
    for (const part of COPIED) cpSync(join(root, part), join(this.path, part), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(this.path, 'node_modules'))
  }

  /** Runs something in the copy while the bug is planted. */
  async while<T>({ bug, edits }: Planted, work: (path: string) => Promise<T>): Promise<T> {
    const before = new Map(edits.map(({ file }) => [file, readFileSync(join(this.path, file), 'utf8')]))
    try {
      for (const edit of edits) this.#plant(bug, edit)
      return await work(this.path)
    } finally {
      for (const [file, text] of before) writeFileSync(join(this.path, file), text)
    }
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true, maxRetries: 5 })
  }

  #plant(bug: string, { file, from, to }: Edit): void {
    const path = join(this.path, file)
    const text = readFileSync(path, 'utf8')
    if (!text.includes(from)) throw new Error(`cannot plant "${bug}": ${file} no longer contains ${from}`)
    writeFileSync(
      path,
      text.replace(from, () => to),
    )
  }
}
