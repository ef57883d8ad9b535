import type { Alarm, SetOptions, Target } from '../../alarm/index.ts'
import { closest, WakefulError } from '../../error.ts'
import type { Documents } from '../../stores/index.ts'
import { type HandlerTarget, INBOX } from '../../targets/index.ts'
import type { Clock } from '../../time/index.ts'
import { CachedDocuments } from './cached-documents.ts'

/** The names that a pool keeps. Those of processes that are gone stay, until this many newer ones were registered. */
const NAMES_MAX = 500
/** The built-in targets that are written as one word, or that people try to write so. */
const BUILT_INS = [INBOX, 'event', 'default']
const LOOKS_LIKE_URL = /^http|\/\//i

interface PoolRecord {
  /** In the order in which they were registered. */
  readonly names: readonly string[]
}

/** The options that name a target. */
type TargetOptions = Pick<SetOptions, 'target' | 'onFailure'>

const FIELDS = ['target', 'onFailure'] as const

/**
 * Judges the targets of a call that are written as a name alone: refuses a name that is surely a mistake (a URL with a typo,
 * or nearly another name), and returns the notes on others that no process has registered.
 */
export type NameJudge = (options: TargetOptions) => string[]

/**
 * The names of the handlers that processes have registered, by pool. They are in the store, so that a mistyped target is
 * noticed when it is set: an alarm with a name that nobody registers would wait for ever.
 */
export class HandlerNames {
  readonly #documents: CachedDocuments<PoolRecord>
  readonly #handlers: HandlerTarget
  #announced = 0

  constructor(documents: Documents, clock: Clock, handlers: HandlerTarget) {
    this.#documents = new CachedDocuments(documents, clock, 'handlers')
    this.#handlers = handlers
  }

  /** Writes the names that this process has registered into the store, if they are not there. */
  async announce(): Promise<void> {
    const { pool } = this.#handlers
    const names = this.#handlers.names()
    if (names.length === this.#announced) return
    const known = await this.#namesIn(pool)
    if (names.some((name) => !known.has(name))) {
      await this.#documents.change(pool, '', (before) => ({
        names: [...new Set([...(before?.names ?? []), ...names])].slice(-NAMES_MAX),
      }))
    }
    this.#announced = names.length
  }

  /** A judge of the targets of these calls. The store is asked only about names that this process has not registered. */
  async judge(calls: readonly TargetOptions[]): Promise<NameJudge> {
    const { pool, namesPool } = this.#handlers
    const here = new Set(pool === namesPool ? this.#handlers.names() : [])
    const isUnknownHere = (spec: unknown) => isBareName(spec) && !here.has(spec)
    const mustAsk = calls.some(({ target, onFailure }) => isUnknownHere(target) || isUnknownHere(onFailure))
    const known = mustAsk ? here.union(await this.#namesIn(namesPool)) : here
    return (options) =>
      FIELDS.flatMap((field) => {
        const name = options[field]
        if (!isBareName(name) || known.has(name)) return []
        assertMeant(name, known, field)
        return [handlerNote(name, namesPool)]
      })
  }

  async #namesIn(pool: string): Promise<ReadonlySet<string>> {
    return new Set((await this.#documents.get(pool))?.value.names)
  }
}

function isBareName(spec: unknown): spec is string {
  return typeof spec === 'string' && spec !== '' && spec !== INBOX
}

function assertMeant(name: string, known: ReadonlySet<string>, field: keyof TargetOptions): void {
  if (LOOKS_LIKE_URL.test(name)) throw new WakefulError('target.like_url', { name }, { field })
  // At most two edits, and fewer than half of the letters: otherwise any short name would be near any other.
  const editsMax = Math.min(2, Math.floor((name.length - 1) / 2))
  // Names with a number are a series: worker2 is not a misspelt worker1.
  const others = [...BUILT_INS, ...known].filter((each) => each === name || seriesOf(each) !== seriesOf(name))
  const near = closest(name, others, editsMax)
  if (near === null) return
  throw new WakefulError('target.misspelt', { name, near }, { field })
}

function seriesOf(name: string): string {
  return name.replace(/\d+/g, '#')
}

function handlerNote(name: string, pool: string): string {
  return `when this was set, no process of pool ${pool} had registered the handler ${name}: it waits, uncounted, until one does`
}

/** The notes on the targets of an alarm that is edited: new ones on those that change, the old ones on the others. */
export function targetNotes(alarm: Alarm, edited: TargetOptions = {}, judge?: NameJudge): string[] {
  return FIELDS.flatMap((field) => {
    if (edited[field] !== undefined) return judge?.({ [field]: edited[field] }) ?? []
    return alarm.notes.filter((note) => isNoteOn(alarm[field], note))
  })
}

/** The notes of an alarm that are not on its targets. */
export function otherNotes({ notes, target, onFailure }: Alarm): string[] {
  return notes.filter((note) => !isNoteOn(target, note) && !isNoteOn(onFailure, note))
}

function isNoteOn(target: Target | null, note: string): boolean {
  return target?.kind === 'handler' && note === handlerNote(target.name, target.pool)
}
