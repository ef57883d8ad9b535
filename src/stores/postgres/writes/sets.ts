import {
  type Alarm,
  bySerial,
  type Context,
  newSnapshot,
  replace,
  type Scope,
  type Serial,
  type Snapshot,
  snapshotAfter,
} from '../../../alarm/index.ts'
import type { SetRequest, SetResult } from '../../index.ts'
import type { Session } from '../connection/index.ts'
import {
  apply,
  assertCalendars,
  lockSnapshots,
  readSnapshots,
  type StoredSnapshot,
  snapshotIn,
  type WriteBatch,
} from '../rows/index.ts'
import * as sql from '../sql/index.ts'

/** Whether a request can match an alarm that exists already. */
export function isKeyed({ alarm }: SetRequest): boolean {
  return alarm.key !== null || alarm.idempotencyKey !== null
}

/** Writes new alarms that can match no other: one statement, however many. */
export async function setNew(batch: WriteBatch, requests: readonly SetRequest[]): Promise<SetResult[]> {
  const recurring = requests.flatMap(({ alarm }) => (alarm.rule.kind === 'once' ? [] : alarm))
  if (recurring.length > 0) await assertCalendars(batch.session, recurring)
  // Not flushed here: together with the tallies it is one statement, and that is the whole transaction.
  for (const { alarm, timer } of requests) batch.writes.insertAlarm(alarm, timer)
  return requests.map(createdAnswer)
}

/** The result of a set that created an alarm. */
export function createdAnswer({ alarm, timer }: SetRequest): SetResult {
  return { outcome: 'created', snapshot: newSnapshot(alarm, timer) }
}

/** A request with its index among the others, and its caller's context. */
interface IndexedRequest {
  readonly request: SetRequest
  readonly context: Context
  readonly index: number
}

/**
 * Writes alarms in order: known idempotency keys return the first alarm, known keys are set again. Requests that name
 * the same alarm run one after the other, the rest together.
 */
export async function setAll(
  batch: WriteBatch,
  requests: readonly { readonly request: SetRequest; readonly context: Context }[],
): Promise<SetResult[]> {
  const answers: SetResult[] = []
  let left: readonly IndexedRequest[] = requests.map((each, index) => ({ ...each, index }))
  while (left.length > 0) {
    const met = new Set<string>()
    const [now, later]: [IndexedRequest[], IndexedRequest[]] = [[], []]
    for (const indexed of left) {
      const names = namesOf(indexed.request.alarm)
      ;(names.some((name) => met.has(name)) ? later : now).push(indexed)
      for (const name of names) met.add(name)
    }
    const round = await setRound(batch, now)
    for (const [index, answer] of round) answers[index] = answer
    // An alarm that was found and then pruned, before it was locked, is looked up again: now it is new.
    const again = now.filter(({ index }) => !round.has(index))
    const answered = now.filter(({ index }) => round.has(index))
    left = [...again, ...repeatsAnswered(later, answers, answered)]
  }
  return answers
}

/** Answers requests that repeat an idempotency key of the previous round, which no key can have replaced since. */
function repeatsAnswered(
  later: readonly IndexedRequest[],
  answers: SetResult[],
  round: readonly IndexedRequest[],
): IndexedRequest[] {
  const firsts = new Map(
    round.flatMap(({ request: { alarm }, index }) =>
      alarm.idempotencyKey === null || alarm.key !== null ? [] : [[nameOf('i', alarm), index] as const],
    ),
  )
  return later.filter(({ request: { alarm }, index }) => {
    const first = alarm.key === null ? firsts.get(nameOf('i', alarm)) : undefined
    if (first === undefined) return true
    answers[index] = { ...answers[first]!, outcome: 'deduped' }
    return false
  })
}

function namesOf(alarm: Alarm): string[] {
  const names: string[] = []
  if (alarm.idempotencyKey !== null) names.push(nameOf('i', alarm))
  if (alarm.key !== null) names.push(nameOf('k', alarm))
  return names
}

function nameOf(kind: 'i' | 'k', { tenant, owner, key, idempotencyKey }: Alarm): string {
  return JSON.stringify([kind, tenant, owner, kind === 'i' ? idempotencyKey : key])
}

/** Answers by index; none for alarms that were pruned in the meantime, for which nothing is written. */
async function setRound(
  batch: WriteBatch,
  round: readonly IndexedRequest[],
): Promise<Map<number, SetResult>> {
  const { session } = batch
  const [firsts, keyed] = await Promise.all([knownFirsts(session, round), knownKeys(session, round)])
  const [deduped, rest] = [round.filter(isIn(firsts)), round.filter((indexed) => !isIn(firsts)(indexed))]
  await assertCalendars(
    session,
    rest.map(({ request }) => request.alarm),
  )
  const replaced = rest.filter(isIn(keyed))
  const fresh = rest.filter((indexed) => !isIn(keyed)(indexed))
  const seqs = replaced.map(({ index }) => keyed.get(index)!)
  const known = await lockSnapshots(session, [...seqs].sort(bySerial), batch.moment)
  const answers = new Map<number, SetResult>()
  for (const { index, request, context } of replaced) {
    const snapshot = snapshotIn(known, keyed.get(index)!)
    if (snapshot === undefined) continue
    answers.set(index, { outcome: 'replaced', snapshot: setAgain(batch, snapshot, request, context) })
  }
  for (const { request } of fresh) batch.writes.insertAlarm(request.alarm, request.timer)
  // Flushed now: at the end, alarms with keys would be written together with the tallies.
  await batch.flush()
  const first = await readSnapshots(session, [...firsts.values()])
  for (const { index } of deduped) {
    const snapshot = snapshotIn(first, firsts.get(index)!)
    if (snapshot !== undefined) answers.set(index, { outcome: 'deduped', snapshot })
  }
  for (const { index, request } of fresh) answers.set(index, createdAnswer(request))
  return answers
}

function isIn(known: ReadonlyMap<number, Serial>): (indexed: IndexedRequest) => boolean {
  return ({ index }) => known.has(index)
}

function setAgain(
  batch: WriteBatch,
  snapshot: StoredSnapshot,
  request: SetRequest,
  context: Context,
): Snapshot {
  const { scheduledFor: first, nominal } = request.timer
  const by = { alarm: request.alarm, first, nominal: nominal ?? first }
  const change = replace(snapshot, by, 'set_again', context)
  apply(batch.writes, snapshot.alarm, snapshot.timers, change, context)
  return snapshotAfter(snapshot, change)
}

/** The rows of known idempotency keys, by the index of the request; also of keys that were replaced. */
async function knownFirsts(session: Session, round: readonly IndexedRequest[]): Promise<Map<number, Serial>> {
  const asked = round.filter(({ request }) => request.alarm.idempotencyKey !== null)
  const names = asked.map(({ request }) => request.alarm.idempotencyKey!)
  const [current, kept] = await Promise.all([
    seqsNamed(session, sql.seqsOfIdempotencyKeys, asked, names),
    seqsNamed(session, sql.seqsOfKeptKeys, asked, names),
  ])
  return new Map([...kept, ...current])
}

function knownKeys(session: Session, round: readonly IndexedRequest[]): Promise<Map<number, Serial>> {
  const asked = round.filter(({ request }) => request.alarm.key !== null)
  const names = asked.map(({ request }) => request.alarm.key!)
  return seqsNamed(session, sql.seqsOfKeys, asked, names)
}

async function seqsNamed(
  session: Session,
  text: string,
  asked: readonly IndexedRequest[],
  names: readonly string[],
): Promise<Map<number, Serial>> {
  if (asked.length === 0) return new Map()
  const scopes: readonly Scope[] = asked.map(({ request }) => request.alarm)
  const rows = await session.rows(
    text,
    scopes.map(({ tenant }) => tenant),
    scopes.map(({ owner }) => owner),
    names,
  )
  return new Map(rows.map(([ordinal, seq]) => [asked[(ordinal as number) - 1]!.index, seq as Serial]))
}
