import { createHook, executionAsyncId } from 'node:async_hooks'
import { sourcePath } from './coverage.ts'

/** Where an asynchronous step was started: in which step, and by which files under src/, the caller first. */
interface Step {
  readonly startedIn: number
  readonly files: readonly string[]
}

/**
 * Follows calls from file to file, also across `await`, timers and queues. A stack trace ends where a promise or a
 * timer continues; so the stack is kept whenever one is created, and a path is made of these stacks.
 */
export class CallPaths {
  readonly #steps = new Map<number, Step>()
  readonly #hook = createHook({ init: (id) => this.#started(id) })
  #onStep: (files: readonly string[]) => void = () => {}

  /** Forgets everything and begins to record; `onStep` is called with the stack of each new step. */
  start(onStep: (files: readonly string[]) => void = () => {}): void {
    this.#steps.clear()
    this.#onStep = onStep
    this.#hook.enable()
  }

  stop(): void {
    this.#hook.disable()
  }

  /** The first file under src/ that ran since the start. */
  first(): string | undefined {
    return [...this.#steps.values()].find(({ files }) => files.length > 0)?.files[0]
  }

  /**
   * The files on the way here, the first caller first; a file is repeated where the path returns to it. The way is to
   * begin in the file `from`. Where it does not, a loop that was running before has taken the work out of a queue: the
   * longest path that leads from there to the loop's file is put before it.
   */
  here(from?: string): string[] {
    const here = withoutRepeats([...this.#pathTo(executionAsyncId()), ...stackFiles()])
    if (from === undefined || here[0] === from) return here
    const begun = [...this.#steps.keys()]
      .map((id) => withoutRepeats(this.#pathTo(id)))
      .filter((path) => path[0] === from)
    const queued = begun.filter((path) => path.at(-1) === here[0])
    return withoutRepeats([...longest(queued.length > 0 ? queued : begun), ...here])
  }

  #started(id: number): void {
    const files = stackFiles()
    this.#steps.set(id, { startedIn: executionAsyncId(), files })
    this.#onStep(files)
  }

  #pathTo(id: number): string[] {
    const parts: (readonly string[])[] = []
    for (let step = this.#steps.get(id); step !== undefined; step = this.#steps.get(step.startedIn))
      parts.unshift(step.files)
    return parts.flat()
  }
}

/** The longest of some paths; empty where there is none. */
export function longest(paths: readonly string[][]): string[] {
  return paths.reduce((best, path) => (path.length > best.length ? path : best), [])
}

function withoutRepeats(files: readonly string[]): string[] {
  return files.filter((file, index) => file !== files[index - 1])
}

/** The files under src/ on the stack, the outermost first. Frames of callers that `await` are in the steps already. */
function stackFiles(): string[] {
  const { prepareStackTrace, stackTraceLimit } = Error
  Error.stackTraceLimit = Number.POSITIVE_INFINITY
  Error.prepareStackTrace = (_, sites) => sites
  const sites = new Error().stack as unknown as (NodeJS.CallSite & { isAsync(): boolean })[]
  Error.prepareStackTrace = prepareStackTrace
  Error.stackTraceLimit = stackTraceLimit
  return sites
    .filter((site) => !site.isAsync())
    .map((site) => sourcePath(site.getFileName()))
    .filter((path) => path !== null)
    .reverse()
}
