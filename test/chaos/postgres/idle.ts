import { readFileSync } from 'node:fs'
import { open, type Wakeful } from '../../../src/index.ts'

/** What idle processes sent to the server, by the server's statement log. */
export interface Idle {
  readonly processes: number
  readonly seconds: number
  /** Of the process that sent the most. */
  readonly perSecond: number
  /** All statements other than heartbeats. */
  readonly others: readonly string[]
}

/** Settings of a server that logs statements with their sender, for databases that request it. */
export const STATEMENT_LOG = ['log_min_messages=log', 'log_line_prefix=<%a> ']

/** After the first heartbeats no shard changes its holder. */
const WARM_MS = 6_000

/** Runs idle processes with only distant alarms, and counts their statements. */
export async function idle(url: string, logPath: string, seconds: number, processes = 2): Promise<Idle> {
  const all: Wakeful[] = []
  try {
    for (let number = 0; number < processes; number++) {
      const wakeful = await open(`${url}?application_name=idler-${number}`)
      wakeful.handle('work', () => {})
      await wakeful.start()
      all.push(wakeful)
    }
    await all[0]!.set({ delay: '1d' }, { target: 'work' })
    await sleep(WARM_MS)
    const before = readFileSync(logPath, 'utf8').length
    await sleep(seconds * 1_000)
    const logged = readFileSync(logPath, 'utf8').slice(before)
    const lines = logged.split('\n').filter((line) => /^<idler-\d+> LOG: {2}(?:statement|execute)/.test(line))
    const counts = Map.groupBy(lines, (line) => line.slice(0, line.indexOf('>')))
    const most = Math.max(0, ...[...counts.values()].map((each) => each.length))
    return {
      processes,
      seconds,
      perSecond: most / seconds,
      others: lines.filter((line) => !line.includes('WITH heartbeat AS')),
    }
  } finally {
    for (const wakeful of all) await wakeful.close()
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
