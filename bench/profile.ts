import { Session } from 'node:inspector/promises'

/** One function and the milliseconds spent in it itself. */
export interface Spent {
  readonly name: string
  readonly room: string
  readonly ms: number
}

const SAMPLE_US = 250

/** Runs work under the processor's profiler; answers where its time went, most first. */
export async function profiled<T>(work: () => Promise<T>): Promise<{ answer: T; spent: Spent[] }> {
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_US })
    await session.post('Profiler.start')
    const answer = await work()
    const { profile } = await session.post('Profiler.stop')
    return { answer, spent: spentIn(profile) }
  } finally {
    session.disconnect()
  }
}

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[]
  samples?: number[] | undefined
  timeDeltas?: number[] | undefined
}

function spentIn({ nodes, samples = [], timeDeltas = [] }: Profile): Spent[] {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const sums = new Map<string, Spent>()
  for (const [index, id] of samples.entries()) {
    const { functionName, url } = frames.get(id)!
    const file = /\/src\/(.*)$/.exec(url)?.[1]
    const name = `${functionName || '(anonymous)'}${file === undefined ? '' : ` ${file}`}`
    const before = sums.get(name)?.ms ?? 0
    sums.set(name, { name, room: roomOf(functionName, file), ms: before + timeDeltas[index]! / 1000 })
  }
  return [...sums.values()].sort((a, b) => b.ms - a.ms)
}

/** Where a function belongs. SQLite itself has no file; it is called by these names. */
function roomOf(name: string, file: string | undefined): string {
  if (file !== undefined) {
    // Records are written with instants in ISO: that is no search for the next one.
    if (file === 'time/instant.ts') return 'src/alarm'
    if (file === 'time/rule.ts' || file === 'time/every-step.ts') return 'time: checking the rule'
    return file.startsWith('time/') ? 'time: next instants' : `src/${file.slice(0, file.lastIndexOf('/'))}`
  }
  if (['run', 'all', 'get', 'exec'].includes(name)) return 'sqlite'
  if (name === '(garbage collector)' || name === '(idle)') return name
  return name === 'parse' || name === 'stringify' ? 'JSON' : 'node'
}
