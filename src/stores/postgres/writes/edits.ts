import {
  bySerial,
  type Change,
  type Context,
  type Scope,
  type Serial,
  type Snapshot,
  snapshotAfter,
} from '../../../alarm/index.ts'
import {
  apply,
  type Decide,
  type EditResult,
  occurrenceInLog,
  type Selector,
  type StoredSnapshot,
} from '../../index.ts'
import type { Session } from '../connection/index.ts'
import { lockSnapshots, type Snapshots, seqsNamed, snapshotIn, type WriteBatch } from '../rows/index.ts'
import * as sql from '../sql/index.ts'
import type { Ending } from './group-commit.ts'

/** A caller's edit. */
export interface EditJob<A = unknown> {
  readonly scope: Scope
  readonly which: Selector
  readonly decide: Decide<A>
  readonly context: Context
}

/**
 * Reads, decides and writes the selected alarms; those that do not exist and those of other owners are left out
 * alike. Edits of several callers share a transaction: if one is refused, nothing of it is written, and the others
 * are not affected.
 */
export async function editAll(
  batch: WriteBatch,
  jobs: readonly EditJob[],
): Promise<Ending<EditResult<unknown>>[]> {
  const selections = await select(batch.session, jobs)
  const endings: Ending<EditResult<unknown>>[] = []
  let left = jobs.map((job, index) => ({ job, index, ...selections[index]! }))
  while (left.length > 0) {
    // Edits of the same alarm run one after the other: each must see what the previous one has written.
    const met = new Set<Serial>()
    const now = left.filter(({ seqs }) => {
      const isFree = seqs.every((seq) => !met.has(seq))
      for (const seq of seqs) met.add(seq)
      return isFree
    })
    const seqs = [...new Set(now.flatMap((each) => each.seqs))].sort(bySerial)
    const snapshots = await lockSnapshots(batch.session, seqs, batch.clockOverride)
    for (const { job, index, seqs: own, next } of now) {
      const timedOut = await timedOutNamed(batch.session, snapshots, own, job)
      const read = () => own.flatMap((seq) => snapshotIn(snapshots, seq) ?? [])
      endings[index] = decideAll(batch, job, () => read().map((each) => ({ ...each, ...timedOut })), next)
    }
    await batch.flush()
    left = left.filter((each) => !now.includes(each))
    if (left.length > 0) await batch.session.acknowledged()
  }
  return endings
}

/** The occurrence that a late report names. The alarm is locked: nobody else restates it meanwhile. */
async function timedOutNamed(
  session: Session,
  snapshots: Snapshots,
  [seq]: readonly Serial[],
  { which }: EditJob,
): Promise<Pick<Snapshot, 'timedOut'>> {
  const snapshot = seq === undefined ? undefined : snapshots.found.get(seq)
  const occurrence = snapshot === undefined ? null : occurrenceInLog(snapshot, which)
  if (seq === undefined || occurrence === null) return {}
  const [row] = await session.rows(sql.timedOut, seq, occurrence)
  return row === undefined ? {} : { timedOut: { occurrence, isNewest: row[0] === 1 } }
}

/** All of one caller's decisions, or none of them. */
function decideAll(
  batch: WriteBatch,
  { decide, context }: EditJob,
  read: () => readonly StoredSnapshot[],
  next: Serial | null,
): Ending<EditResult<unknown>> {
  const decided: { snapshot: StoredSnapshot; change: Change; answer: unknown }[] = []
  try {
    for (const snapshot of read()) decided.push({ snapshot, ...decide(snapshot) })
  } catch (refusal) {
    return { refusal }
  }
  const results = decided.map(({ snapshot, change, answer }) => {
    apply(batch, snapshot.alarm, snapshot.timers, change, context)
    return { answer, snapshot: snapshotAfter(snapshot, change) }
  })
  return { answer: { results, next } }
}

interface Selection {
  readonly seqs: readonly Serial[]
  readonly next: Serial | null
}

/** The rows that each caller selects, in the order of their names. */
async function select(session: Session, jobs: readonly EditJob[]): Promise<Selection[]> {
  const [byId, byKey] = await Promise.all([
    selectNamed(session, sql.seqsOfIds, jobs, (which) =>
      'id' in which ? [which.id] : 'ids' in which ? which.ids : [],
    ),
    selectNamed(session, sql.seqsOfKeys, jobs, (which) => ('key' in which ? [which.key] : [])),
  ])
  return Promise.all(
    jobs.map(
      (job, index) => selectMany(session, job) ?? { seqs: [...byId[index]!, ...byKey[index]!], next: null },
    ),
  )
}

async function selectNamed(
  session: Session,
  text: string,
  jobs: readonly EditJob[],
  namesOf: (which: Selector) => readonly string[],
): Promise<ReadonlySet<Serial>[]> {
  const names = jobs.flatMap(({ scope, which }, index) =>
    namesOf(which).map((name) => ({ ...scope, name, index })),
  )
  const seqs = await seqsNamed(session, text, names)
  const found = jobs.map(() => new Set<Serial>())
  for (const [place, { index }] of names.entries()) if (seqs.has(place)) found[index]!.add(seqs.get(place)!)
  return found
}

/** A bounded part of a subject's alarms, of those that an apply has declared, or of all pending ones; undefined if the alarms were named one by one. */
function selectMany(session: Session, { scope, which }: EditJob): Promise<Selection> | undefined {
  if (!('limit' in which)) return undefined
  const { tenant, owner } = scope
  const after = which.after ?? 0
  const rows =
    'subject' in which
      ? session.rows(sql.subjectSelection, tenant, owner, which.subject, after, which.limit)
      : 'declaredBy' in which
        ? session.rows(sql.declaredSelection, tenant, owner, which.declaredBy, after, which.limit)
        : session.rows(sql.pendingSelection, tenant, owner, after, which.limit)
  return rows.then((found) => {
    const seqs = found.map(([seq]) => seq as Serial)
    return { seqs, next: seqs.length < which.limit ? null : seqs.at(-1)! }
  })
}
