import { Session } from 'node:inspector/promises'

/** A function, and the milliseconds spent in it alone. */
export interface FunctionTime {
  readonly name: string
  readonly group: string
  readonly ms: number
}

const SAMPLE_US = 250
export const IDLE = '(idle)'

/** Runs work under the CPU profiler and returns where its time went, the largest part first. */
export async function profile(work: () => Promise<unknown>): Promise<FunctionTime[]> {
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_US })
    await session.post('Profiler.start')
    await work()
    return functionTimes((await session.post('Profiler.stop')).profile)
  } finally {
    session.disconnect()
  }
}

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[]
  samples?: number[] | undefined
  timeDeltas?: number[] | undefined
}

function functionTimes({ nodes, samples = [], timeDeltas = [] }: Profile): FunctionTime[] {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const sums = new Map<string, FunctionTime>()
  for (const [index, id] of samples.entries()) {
    const { functionName, url } = frames.get(id)!
    const file = /\/src\/(.*)$/.exec(url)?.[1]
    const name = `${functionName || '(anonymous)'}${file === undefined ? '' : ` ${file}`}`
    const before = sums.get(name)?.ms ?? 0
    sums.set(name, { name, group: groupOf(functionName, file), ms: before + timeDeltas[index]! / 1000 })
  }
  return [...sums.values()].sort((a, b) => b.ms - a.ms)
}

/** The part of the code base that a function belongs to. SQLite's own functions have no file; Node calls them by these names. */
function groupOf(name: string, file: string | undefined): string {
  if (file !== undefined) {
    // Formats the instants of records, so it is not part of computing the next one.
    if (file === 'time/instant.ts') return 'src/alarm'
    if (file === 'time/rule.ts' || file === 'time/every-step.ts') return 'time: validating the rule'
    return file.startsWith('time/') ? 'time: next instants' : `src/${file.slice(0, file.lastIndexOf('/'))}`
  }
  if (['run', 'all', 'get', 'exec'].includes(name)) return 'sqlite'
  if (name === '(garbage collector)' || name === IDLE) return name
  return name === 'parse' || name === 'stringify' ? 'JSON' : 'node'
}
