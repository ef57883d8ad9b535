import pg from 'pg'
import type { Timers } from '../../sharded/index.ts'

/** Without an answer to the goodbye by then, the connection is half open. */
const GOODBYE_MS = 1_000

/** How a session waits for an answer. */
export type Bound = <T>(answer: Promise<T>) => Promise<T>

/**
 * Waits for answers on a connection, for at most this long: without one, the connection is half open and is dropped, which
 * fails everything that waits for it. The waits of `pg` itself are not used, because no test could let their time pass.
 */
export function boundOf(timers: Timers, client: pg.ClientBase, msMax: number): Bound {
  return (answer) => {
    const cancel = timers.later(msMax, () => hangUp(client, late(`no answer within ${msMax} ms`)))
    answer.then(cancel, cancel)
    return answer
  }
}

/** The clients of a database: each gives up to connect after this long. */
export function clientClass(timers: Timers, msMax: number): typeof pg.Client {
  return class extends pg.Client {
    override connect(): Promise<pg.Client>
    override connect(callback: (error: Error) => void): void
    override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
      const cancel = timers.later(msMax, () => hangUp(this, late(`no connection within ${msMax} ms`)))
      if (callback === undefined) return super.connect().finally(cancel)
      super.connect((error: Error) => {
        cancel()
        callback(error)
      })
      return undefined
    }
  }
}

/** Takes a connection from a pool, if one is free in time. */
export function checkOut(timers: Timers, pool: pg.Pool, msMax: number): Promise<pg.PoolClient> {
  return new Promise((resolve, reject) => {
    let isLate = false
    const cancel = timers.later(msMax, () => {
      isLate = true
      reject(late(`no free connection within ${msMax} ms`))
    })
    pool.connect().then(
      (client) => {
        cancel()
        if (isLate) client.release()
        else resolve(client)
      },
      (thrown: unknown) => {
        cancel()
        reject(thrown)
      },
    )
  })
}

/** Waits for connections to end, and closes those that the server has not answered in time. */
export async function endAll(
  timers: Timers,
  goodbye: Promise<unknown>,
  open: () => Iterable<pg.Client>,
): Promise<void> {
  let cancel = () => {}
  const ended = new Promise<void>((resolve) => {
    cancel = timers.later(GOODBYE_MS, () => {
      for (const client of open()) hangUp(client)
      resolve()
    })
  })
  await Promise.race([goodbye, ended])
  cancel()
}

/** Closes a connection without a goodbye: a half-open one would wait until the network gives up. */
export function hangUp(client: pg.ClientBase, reason?: Error): void {
  const { connection } = client as unknown as { connection?: { stream?: { destroy(reason?: Error): void } } }
  connection?.stream?.destroy(reason)
}

/** The error of a broken connection. */
function late(text: string): Error {
  return Object.assign(new Error(text), { code: 'ETIMEDOUT' })
}
