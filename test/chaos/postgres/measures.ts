import { startPostgres } from '../../postgres/server.ts'
import { ask } from '../postgres-evidence.ts'
import { fairness } from './fairness.ts'
import { idle, STATEMENT_LOG } from './idle.ts'
import { logReaders } from './log-readers.ts'
import { migrateConcurrently } from './migrate.ts'
import { openSnapshot } from './open-snapshot.ts'
import { cutOff, spreads, takeovers } from './ownership.ts'

/** The environment of a measure. */
interface Place {
  readonly url: string
  readonly port: number
  readonly logPath: string
  readonly seed: number
  /** Creates another database on the same server and returns its URL. */
  readonly fresh: (name: string) => Promise<string>
}

/** The long forms. Each returns its figures and what is wrong with them. */
const MEASURES: Readonly<
  Record<string, (place: Place) => Promise<{ found: object; wrong: readonly string[] }>>
> = {
  async log({ url, seed }) {
    const found = await logReaders({ url, seed, events: 100_000, perTransactionMax: 250, longMs: 30_000 })
    const { missed, readTwice, commitsOutOfOrder } = found
    const isRight = [...missed, ...readTwice].every((count) => count === 0) && commitsOutOfOrder > 0
    return { found, wrong: isRight ? [] : ['a reader missed events, or read some twice'] }
  },
  async snapshot({ url }) {
    const onSecond = (second: number, medianMs: number, worstMs: number) => {
      if (second % 20 === 0) console.log(`  ${second} s: median ${medianMs} ms late, worst ${worstMs} ms`)
    }
    const found = await openSnapshot({ url, seconds: 300, perSecond: 300, onSecond })
    const isRight = found.fired === found.set && found.worstMedian < 1_000
    return { found, wrong: isRight ? [] : ['the backlog came to a second or more'] }
  },
  async ownership({ url, port }) {
    const rounds = []
    for (let round = 0; round < 5; round++) rounds.push(await takeovers(url))
    const evenly = await spreads(url, 10)
    const cut = await cutOff(url, port)
    const found = {
      crashMs: rounds.map(({ crashMs }) => Math.round(crashMs)).join(', '),
      closeMs: rounds.map(({ closeMs }) => Math.round(closeMs)).join(', '),
      joinMs: evenly.joinMs.join(', '),
      leaveMs: evenly.leaveMs.join(', '),
      ...cut,
    }
    const wrong = [
      ...(rounds.some(({ crashMs }) => crashMs > 5_000) ? ['a takeover took longer than 5 s'] : []),
      ...(rounds.some(({ closeMs }) => closeMs > 500) ? ['a hand-over took longer than 500 ms'] : []),
      ...(cut.startedTooLate > 0 ? ['deliveries began after the lease had ended'] : []),
    ]
    return { found, wrong }
  },
  async fairness({ fresh }) {
    const { found, wrong } = await fairness(fresh, { alarms: 1_000_000, seconds: 20, rounds: 3 })
    console.table(found)
    return { found: { cases: Object.keys(found).length }, wrong }
  },
  async idle({ url, logPath }) {
    const found = await idle(url, logPath, 20, 3)
    return { found, wrong: found.perSecond > 0.5 ? ['an idle process sends more than its heartbeat'] : [] }
  },
  async migrate({ url }) {
    const found = await migrateConcurrently(url, 10)
    const { failed, alarms } = found
    return { found, wrong: failed === 0 && alarms === 10 ? [] : ['not everyone could open the database'] }
  },
}

/** Runs one of these measures, or all, on a new server. */
export async function measure(name: string, seed: number): Promise<void> {
  const names = name === 'all' ? Object.keys(MEASURES) : [name]
  const server = await startPostgres(STATEMENT_LOG)
  try {
    for (const each of names) {
      const make = MEASURES[each]
      if (make === undefined)
        throw new Error(
          `there is no measure ${each}: name one of ${Object.keys(MEASURES).join(', ')}, or all`,
        )
      await ask(server.url(), `CREATE DATABASE ${each}_measure`)
      if (each === 'idle') await ask(server.url(), `ALTER DATABASE idle_measure SET log_statement = 'all'`)
      console.log(`${each} (seed ${seed})`)
      const { port, logPath } = server
      const fresh = async (name: string) => {
        await ask(server.url(), `CREATE DATABASE ${each}_${name}`)
        return server.url(`${each}_${name}`)
      }
      const url = server.url(`${each}_measure`)
      const { found, wrong } = await make({ url, port, logPath, seed, fresh })
      console.log(found)
      for (const text of wrong) console.log(`wrong: ${text}`)
      if (wrong.length > 0) process.exitCode = 1
    }
  } finally {
    await server.stop()
  }
}
