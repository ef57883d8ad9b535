import { BUILT_IN_POOL } from '../alarm/index.ts'
import { HANDLER_MISSING_MS, missingText, type Store } from '../stores/index.ts'
import { formatInstant } from '../time/index.ts'

/** How often the same missing handler is reported. */
const AGAIN_MS = 3_600_000
/** How many are reported at a time: callers choose the names of handlers. */
const REPORTED_MAX = 20

/** Reports what has been due for a minute without its handler: it waits, uncounted, and nobody might look for it. */
export class MissingHandlerReport {
  readonly #reportedAt = new Map<string, number>()

  /** Reads what is missing, and reports what was not reported in the last hour. */
  async check(
    store: Pick<Store, 'missingHandlers' | 'shardStates'>,
    now: number,
    report: (warning: Error) => void,
  ): Promise<void> {
    for (const [text, at] of this.#reportedAt) if (now - at >= AGAIN_MS) this.#reportedAt.delete(text)
    for (const { name, text } of await problems(store, now - HANDLER_MISSING_MS)) {
      if (this.#reportedAt.has(name) || this.#reportedAt.size >= REPORTED_MAX) continue
      this.#reportedAt.set(name, now)
      report(new Error(text))
    }
  }
}

async function problems(
  store: Pick<Store, 'missingHandlers' | 'shardStates'>,
  dueBy: number,
): Promise<{ name: string; text: string }[]> {
  const handlers = await store.missingHandlers(dueBy, REPORTED_MAX)
  // Without any process of a pool nothing looks at its alarms, so none of them is known to wait for a handler.
  const unserved = new Map<string, number>()
  for (const { pool, holder, nextWakeAt } of await store.shardStates(false)) {
    if (holder !== null || pool === BUILT_IN_POOL || nextWakeAt === null || nextWakeAt > dueBy) continue
    unserved.set(pool, Math.min(nextWakeAt, unserved.get(pool) ?? nextWakeAt))
  }
  return [
    ...handlers.map((each) => ({
      name: JSON.stringify([each.pool, each.handler]),
      text: `${missingText(each)}: register it, or see \`wakeful list --target NAME\``,
    })),
    ...[...unserved].map(([pool, since]) => ({
      name: JSON.stringify([pool]),
      text: `no process serves pool ${pool}, whose alarms are due since ${formatInstant(since)}: start one that registers their handlers`,
    })),
  ]
}
