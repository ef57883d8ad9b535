import type { Ask, Entry, Start } from './entries.ts'
import type { LogRecord } from './evidence.ts'
import { type Answer, type AskCall, asksAt, type Call, type Chain, markHandled } from './model.ts'

type EditKind = 'cancel' | 'pause' | 'resume'

const SENT = { cancelling: 'cancel', pausing: 'pause', resuming: 'resume' } as const
const ANSWERED = { cancel: 'cancel', paused: 'pause', resumed: 'resume' } as const

/** Groups the entries of a ledger into chains. */
export class Chains {
  readonly all: Chain[] = []
  readonly asks = new Map<string, AskCall>()
  readonly #byKey = new Map<string, Chain>()
  readonly #byAlarm = new Map<string, Chain>()
  readonly #open = new Map<string, Call>()

  /** Reads the next entry. */
  read(entry: Entry, index: number): void {
    const { type } = entry
    if (type === 'ask') this.#ask(entry, index)
    else if (type === 'set') this.#answer(entry.name, 'yes', entry.at, entry.alarmId)
    else if (type === 'refused') this.#answer(entry.name, 'no', entry.at)
    else if (type === 'cancelling' || type === 'pausing' || type === 'resuming')
      this.#edit(SENT[type], entry.alarmId, index, entry.at)
    else if (type === 'cancel' || type === 'paused' || type === 'resumed') this.#edited(entry, index)
    else if (type === 'start') this.#start(entry)
  }

  /** Adds a record of the log. Call it after all entries were read. */
  record(record: LogRecord): void {
    this.#byAlarm.get(record.alarmId)?.records.push(record)
  }

  #ask(ask: Ask, index: number): void {
    const chain = this.#chainOf(ask)
    const call: AskCall = {
      kind: 'ask',
      index,
      sentAt: ask.at,
      answer: 'unknown',
      answeredAt: undefined,
      ask,
      chain,
      order: chain.asks.length,
      alarmId: undefined,
      delivered: new Map(),
      firstHandled: Number.POSITIVE_INFINITY,
      lastHandled: Number.NEGATIVE_INFINITY,
    }
    chain.calls.push(call)
    chain.asks.push(call)
    this.asks.set(ask.name, call)
  }

  #chainOf({ alarmId, key, scope = '' }: Ask): Chain {
    if (alarmId !== undefined) return this.#ofAlarm(alarmId)
    if (key === null) return this.#begin()
    const known = this.#byKey.get(`${scope} ${key}`)
    if (known !== undefined) return known
    const chain = this.#begin()
    this.#byKey.set(`${scope} ${key}`, chain)
    return chain
  }

  #ofAlarm(alarmId: string): Chain {
    const chain = this.#byAlarm.get(alarmId) ?? this.#begin()
    this.#link(alarmId, chain)
    return chain
  }

  #begin(): Chain {
    const chain: Chain = { calls: [], asks: [], alarmIds: new Set(), starts: [], records: [] }
    this.all.push(chain)
    return chain
  }

  #link(alarmId: string, chain: Chain): void {
    chain.alarmIds.add(alarmId)
    if (!this.#byAlarm.has(alarmId)) this.#byAlarm.set(alarmId, chain)
  }

  #answer(name: string, answer: Answer, at: number | undefined, alarmId?: string): void {
    const call = this.asks.get(name)
    if (call === undefined) return
    call.answer = answer
    call.answeredAt = at
    call.alarmId = alarmId
    if (alarmId !== undefined) this.#link(alarmId, call.chain)
  }

  #edit(kind: EditKind, alarmId: string, index: number, sentAt: number | undefined): Call {
    const call: Call = { kind, index, sentAt, answer: 'unknown', answeredAt: undefined }
    this.#ofAlarm(alarmId).calls.push(call)
    this.#open.set(`${kind} ${alarmId}`, call)
    return call
  }

  #edited(entry: Extract<Entry, { outcome: string }>, index: number): void {
    const { type, alarmId, outcome, at } = entry
    const kind = ANSWERED[type]
    const call = this.#open.get(`${kind} ${alarmId}`) ?? this.#edit(kind, alarmId, index, at)
    call.answer = outcome === 'ended' || outcome === 'refused' ? 'no' : 'yes'
    call.answeredAt = at
    this.#open.delete(`${kind} ${alarmId}`)
  }

  #start(start: Start): void {
    const named = this.asks.get(start.name)
    if (named === undefined) return
    const { scheduledFor, at } = start
    named.chain.starts.push(start)
    this.#link(start.alarmId, named.chain)
    const asks = asksAt(named, scheduledFor)
    for (const { delivered } of asks) if (!delivered.has(scheduledFor)) delivered.set(scheduledFor, at)
    if (asks.length === 1) markHandled(asks[0]!, scheduledFor)
  }
}
