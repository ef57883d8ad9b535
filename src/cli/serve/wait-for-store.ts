import { setTimeout } from 'node:timers/promises'
import { errorText, WakefulError } from '../../error.ts'
import type { Log } from '../../server/index.ts'
import type { Stop, Terminal } from '../terminal/index.ts'

const RETRY_MS = 1_000
/** The same reason is logged once in this time. */
const LINE_MS = 30_000

/** What it waits with. */
interface Waiting {
  readonly terminal: Pick<Terminal, 'monotonic'>
  readonly log: Log
  readonly stop: Stop
  readonly waitMs: number
}

/** A store that is opened, and closed if it is not needed any more. */
interface Closable {
  close(): Promise<void>
}

/**
 * Opens a store. If it does not answer, opens it again every second until `waitMs` are over, and logs why: after a reboot,
 * a database often starts later than its clients. Null if a signal came first.
 */
export async function openWhenReady<T extends Closable>(
  open: () => Promise<T>,
  { terminal, log, stop, waitMs }: Waiting,
): Promise<T | null> {
  const until = terminal.monotonic() + waitMs
  let logged = { message: '', at: 0 }
  while (!stop.signal.aborted) {
    const opening = open()
    try {
      const opened = await Promise.race([opening, stop.asked])
      if (typeof opened !== 'string') return opened
      // A database that hangs must not delay the end. What is opened after all is closed again.
      void opening.then((late) => late.close()).catch(() => {})
      return null
    } catch (thrown) {
      const now = terminal.monotonic()
      if (!isUnavailable(thrown) || now >= until) throw thrown
      const message = errorText(thrown)
      if (message !== logged.message || now - logged.at >= LINE_MS) {
        log.event('waiting', `waiting for the store: ${message}`, {}, 'warn')
        logged = { message, at: now }
      }
      await setTimeout(Math.min(RETRY_MS, until - now), null, { signal: stop.signal }).catch(() => {})
    }
  }
  return null
}

function isUnavailable(thrown: unknown): boolean {
  return thrown instanceof WakefulError && thrown.code === 'store_unavailable'
}
