import { Session } from 'node:inspector'
import { setFlagsFromString } from 'node:v8'

/** The folder whose files are counted, as modules name it. */
const SRC = new URL('../../src/', import.meta.url).href

/** Files, as paths from the root, with the functions of each that were entered. */
export type Entered = ReadonlyMap<string, ReadonlySet<string>>

/** The path from the root of a module under src/; null for any other. */
export function sourcePath(url: string | null | undefined): string | null {
  return url?.startsWith(SRC) === true ? `src/${url.slice(SRC.length)}` : null
}

/** Counts calls of functions with V8's precise coverage. Start it before the code to be measured is loaded. */
export class Coverage {
  readonly #session = new Session()

  constructor() {
    // Optimized code inlines small functions, and then their calls are not counted.
    for (const flag of ['--no-turbofan', '--no-maglev']) setFlagsFromString(flag)
    this.#session.connect()
    this.#session.post('Profiler.enable')
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  }

  /**
   * The functions under src/ that were entered since the last call. The top level of a module and the initializers of
   * class fields do not count: they run without anyone calling into the file.
   */
  read(): Entered {
    const entered = new Map<string, Set<string>>()
    // The answer comes before post() returns: nothing else can run in between.
    this.#session.post('Profiler.takePreciseCoverage', (error, answer) => {
      if (error !== null) throw error
      for (const { url, functions } of answer.result) {
        const path = sourcePath(url)
        if (path === null) continue
        const names = functions
          .filter(({ functionName, ranges }) => {
            const isModule = functionName === '' && ranges[0]!.startOffset === 0
            return ranges[0]!.count > 0 && !isModule && !functionName.startsWith('<')
          })
          .map(({ functionName, ranges }) => `${functionName}@${ranges[0]!.startOffset}`)
        if (names.length > 0) entered.set(path, new Set(names))
      }
    })
    return entered
  }

  close(): void {
    this.#session.disconnect()
  }
}

/** What was entered in every round: work that only happens to run at the same time is in some rounds only. */
export function inEvery(rounds: readonly Entered[]): Entered {
  const [first = new Map(), ...others] = rounds
  return new Map(
    [...first].flatMap(([path, names]) => {
      const common = [...names].filter((name) => others.every((round) => round.get(path)?.has(name)))
      const isCommon = others.every((round) => round.has(path))
      return isCommon ? [[path, new Set(common)] as const] : []
    }),
  )
}
