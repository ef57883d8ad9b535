import type { Session, System } from './connection.ts'

/** How often it checks for commits of other processes. A check takes 3 µs, so that their alarms fire on time. */
const POLL_MS = 25

/**
 * Calls back when another connection has committed. SQLite has no hook for that, so it polls `data_version`. Returns a
 * function that stops it.
 */
export function watchCommits(session: Session, system: System, listener: () => void): () => void {
  const read = () => session.get<{ data_version: number }>('PRAGMA data_version')!.data_version
  let version = read()
  return system.every(POLL_MS, () => {
    const before = version
    try {
      version = read()
    } catch {
      // Reads and writes of the file report errors.
    }
    if (version !== before) listener()
  })
}
