import type { Ask } from './entries.ts'
import type { Evidence, LogRecord } from './evidence.ts'

/** Reasons for a skip that only the user's own call can give: they excuse nothing that was still asked for. */
const EXCUSES_NOTHING = new Set(['cancelled', 'rescheduled'])

/** Every acknowledged obligation that was not met, in words (promises: durable, at-least-once). */
export function obligations(evidence: Evidence, asks: ReadonlyMap<string, Ask>): string[] {
  const facts = factsOf(evidence)
  const lost: string[] = []
  for (const chain of chainsOf(asks)) {
    const candidates = standing(chain, facts)
    if (candidates.length === 0) continue
    const missing = candidates.map((ask) => missingOf(ask, facts))
    if (missing.some((each) => each.length === 0)) continue
    const { name } = candidates.at(-1)!
    lost.push(`${name} (${facts.alarmIds.get(name)}) was never delivered for ${missing.at(-1)!.join(', ')}`)
  }
  return lost
}

interface Facts {
  /** The alarm of each acknowledged ask. */
  readonly alarmIds: ReadonlyMap<string, string>
  readonly places: ReadonlyMap<string, number>
  /** Where in the ledger the alarm's last cancel stands that did not answer `ended`. */
  readonly cancels: ReadonlyMap<string, number>
  readonly delivered: ReadonlyMap<string, ReadonlySet<number>>
  readonly records: ReadonlyMap<string, readonly LogRecord[]>
}

function factsOf({ entries, log }: Evidence): Facts {
  const alarmIds = new Map<string, string>()
  const places = new Map<string, number>()
  const cancels = new Map<string, number>()
  const asked = new Map<string, number>()
  const delivered = new Map<string, Set<number>>()
  const records = new Map<string, LogRecord[]>()
  for (const [index, entry] of entries.entries()) {
    if (entry.type === 'ask') places.set(entry.name, index)
    else if (entry.type === 'set') alarmIds.set(entry.name, entry.alarmId)
    else if (entry.type === 'cancelling') {
      // One before it was never answered, and may have been written.
      const open = asked.get(entry.alarmId)
      if (open !== undefined) cancels.set(entry.alarmId, open)
      asked.set(entry.alarmId, index)
    } else if (entry.type === 'cancel') {
      if (entry.outcome !== 'ended') cancels.set(entry.alarmId, index)
      asked.delete(entry.alarmId)
    } else if (entry.type === 'start')
      delivered.set(entry.name, (delivered.get(entry.name) ?? new Set()).add(entry.scheduledFor))
  }
  // A cancel that was never answered may have been written.
  for (const [alarmId, index] of asked) cancels.set(alarmId, Math.max(index, cancels.get(alarmId) ?? 0))
  for (const record of log) {
    const known = records.get(record.alarmId)
    if (known === undefined) records.set(record.alarmId, [record])
    else known.push(record)
  }
  return { alarmIds, places, cancels, delivered, records }
}

/** Asks that replace each other, oldest first. */
function chainsOf(asks: ReadonlyMap<string, Ask>): Ask[][] {
  const chains = new Map<string, Ask[]>()
  for (const ask of asks.values()) {
    const chain = ask.key === null ? `name ${ask.name}` : `key ${ask.key}`
    chains.set(chain, [...(chains.get(chain) ?? []), ask])
  }
  return [...chains.values()]
}

/**
 * The asks of a chain of which one must have been met: its last acknowledged one, or one after it that was never
 * answered and may or may not have been written. None where none was acknowledged, or a cancel came later.
 */
function standing(chain: readonly Ask[], facts: Facts): Ask[] {
  const last = chain.findLastIndex((ask) => facts.alarmIds.has(ask.name))
  if (last === -1) return []
  const { name } = chain[last]!
  const cancelled = facts.cancels.get(facts.alarmIds.get(name)!)
  if (cancelled !== undefined && cancelled > facts.places.get(name)!) return []
  return chain.slice(last).reverse()
}

function missingOf(ask: Ask, facts: Facts): number[] {
  const delivered = facts.delivered.get(ask.name)
  const alarmId = facts.alarmIds.get(ask.name)
  const records = alarmId === undefined ? [] : (facts.records.get(alarmId) ?? [])
  return ask.instants.filter((instant) => {
    if (delivered?.has(instant)) return false
    return !records.some((record) => accounts(record, instant, ask))
  })
}

function accounts(record: LogRecord, instant: number, ask: Ask): boolean {
  const { type, scheduledFor, skippedTo = scheduledFor, reason = '' } = record
  if (type === 'alarm.skipped')
    return scheduledFor <= instant && instant <= skippedTo && !EXCUSES_NOTHING.has(reason)
  if (scheduledFor !== instant) return false
  return type === 'alarm.failed' || (ask.toLog && type !== 'alarm.attempt_failed')
}
