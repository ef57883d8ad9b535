import type pg from 'pg'
import type { Timers } from '../../sharded/index.ts'

/** Without an answer to the goodbye by then, the connection is half open. */
const GOODBYE_MS = 1_000

/** Closes a connection without a goodbye: a half-open one would wait until the network gives up. */
export function hangUp(client: pg.Client | pg.PoolClient): void {
  const { connection } = client as unknown as { connection?: { stream?: { destroy(): void } } }
  connection?.stream?.destroy()
}

/** Waits for connections to end, and closes those that the server has not answered in time. */
export async function endAll(
  timers: Timers,
  goodbye: Promise<unknown>,
  open: () => Iterable<pg.Client>,
): Promise<void> {
  let cancel = () => {}
  const late = new Promise<void>((resolve) => {
    cancel = timers.later(GOODBYE_MS, () => {
      for (const client of open()) hangUp(client)
      resolve()
    })
  })
  await Promise.race([goodbye, late])
  cancel()
}
