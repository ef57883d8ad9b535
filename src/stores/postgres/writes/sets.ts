import {
  type Alarm,
  bySerial,
  type Context,
  newSnapshot,
  type Serial,
  setAgain,
  snapshotAfter,
} from '../../../alarm/index.ts'
import { apply, type SetRequest, type SetResult, type StoredSnapshot } from '../../index.ts'
import type { Session } from '../connection/index.ts'
import {
  assertCalendars,
  lockSnapshots,
  readSnapshots,
  seqsNamed,
  snapshotIn,
  type WriteBatch,
} from '../rows/index.ts'
import * as sql from '../sql/index.ts'

/** One caller's set, written as a whole or not at all. */
export interface SetJob {
  readonly requests: readonly SetRequest[]
  readonly context: Context
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
export async function setAll(batch: WriteBatch, jobs: readonly SetJob[]): Promise<SetResult[]> {
  const answers: SetResult[] = []
  const all = jobs.flatMap(({ requests, context }) => requests.map((request) => ({ request, context })))
  let left: readonly IndexedRequest[] = all.map((each, index) => ({ ...each, index }))
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
  const idempotencyKeyOf = ({ idempotencyKey }: Alarm) => idempotencyKey
  const [current, kept, keyed] = await Promise.all([
    known(session, sql.seqsOfIdempotencyKeys, round, idempotencyKeyOf),
    known(session, sql.seqsOfKeptKeys, round, idempotencyKeyOf),
    known(session, sql.seqsOfKeys, round, ({ key }) => key),
  ])
  const firsts = new Map([...kept, ...current])
  const rest = round.filter(({ index }) => !firsts.has(index))
  await assertCalendars(
    session,
    rest.map(({ request }) => request.alarm),
  )
  const repeated = rest.filter(({ index }) => keyed.has(index))
  const fresh = rest.filter(({ index }) => !keyed.has(index))
  const seqs = repeated.map(({ index }) => keyed.get(index)!)
  const locked = await lockSnapshots(session, [...seqs].sort(bySerial), batch.clockOverride)
  const answers = new Map<number, SetResult>()
  for (const { index, request, context } of repeated) {
    const snapshot = snapshotIn(locked, keyed.get(index)!)
    if (snapshot === undefined) continue
    answers.set(index, setKnown(batch, snapshot, request, context))
  }
  for (const { request } of fresh) batch.insertAlarm(request.alarm, request.timer)
  // Flushed now: at the end, alarms with keys would be written together with the tallies.
  await batch.flush()
  const first = await readSnapshots(session, [...firsts.values()])
  for (const [index, seq] of firsts) {
    const snapshot = snapshotIn(first, seq)
    if (snapshot !== undefined) answers.set(index, { outcome: 'deduped', snapshot })
  }
  for (const { index, request } of fresh)
    answers.set(index, { outcome: 'created', snapshot: newSnapshot(request.alarm, request.timer) })
  return answers
}

/** The rows of known alarms with these names, by the index of the request. */
async function known(
  session: Session,
  text: string,
  round: readonly IndexedRequest[],
  nameOf: (alarm: Alarm) => string | null,
): Promise<Map<number, Serial>> {
  const named = round.filter(({ request }) => nameOf(request.alarm) !== null)
  const names = named.map(({ request: { alarm } }) => {
    return { tenant: alarm.tenant, owner: alarm.owner, name: nameOf(alarm)! }
  })
  const seqs = await seqsNamed(session, text, names)
  return new Map([...seqs].map(([place, seq]) => [named[place]!.index, seq]))
}

function setKnown(
  batch: WriteBatch,
  snapshot: StoredSnapshot,
  { alarm, timer, resumes }: SetRequest,
  context: Context,
): SetResult {
  const wanted = { alarm, first: timer.scheduledFor, nominal: timer.nominal ?? timer.scheduledFor, resumes }
  const { change, outcome } = setAgain(snapshot, wanted, context)
  apply(batch, snapshot.alarm, snapshot.timers, change, context)
  return { outcome, snapshot: snapshotAfter(snapshot, change) }
}
