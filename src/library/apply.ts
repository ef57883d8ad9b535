import {
  ALARM_OPTIONS,
  assertName,
  type CancelOutcome,
  checked,
  checkedList,
  isEnd,
  isSameRule,
  type Limits,
  ofItem,
  type Serial,
  type Snapshot,
  stateOf,
} from '../alarm/index.ts'
import { display, WakefulError } from '../error.ts'
import type { EditResult, Selector, SetRequest, SetResult } from '../stores/index.ts'
import type { SetManyItem } from './api.ts'

/** One item of `apply`. */
export type DeclaredAlarm = Omit<SetManyItem, 'key' | 'idempotencyKey'> & { readonly key: string }

/** The options of `apply`. */
export interface ApplyOptions {
  /** Names the list (default 'default'). Programs that declare different lists give them different names. */
  readonly name?: string
  /** Whether to cancel alarms that an earlier `apply` of this name declared and that are no longer in the list. */
  readonly prune?: boolean
}

/** What `apply` did, by key. */
export interface Applied {
  readonly created: readonly string[]
  readonly changed: readonly string[]
  readonly unchanged: readonly string[]
  readonly removed: readonly string[]
}

/** An item and its place in the list, which errors name. */
interface Placed {
  readonly item: DeclaredAlarm
  readonly at: number
}

/** The list that declares the items, and which of its items an error names. */
interface Declaration {
  readonly declaredBy: string
  readonly withIndex: <T>(at: number, work: () => T) => T
}

/** What a list needs of its owner's alarms. */
interface ApplyPorts {
  readonly limits: Limits
  readonly store: (items: readonly DeclaredAlarm[], declaration: Declaration) => Promise<readonly SetResult[]>
  /** What setting an item at an instant asks of the store, by default now. */
  readonly request: (item: DeclaredAlarm, at?: number) => Promise<SetRequest>
  readonly get: (key: string) => Promise<Snapshot | null>
  /** Makes the list the one that declares an alarm, so that retention keeps it. */
  readonly adopt: (snapshot: Snapshot, declaredBy: string) => Promise<Snapshot>
  readonly cancel: (
    which: Selector,
    mayCancel: (snapshot: Snapshot) => boolean,
  ) => Promise<EditResult<CancelOutcome>>
}

const OPTIONS = { name: true, prune: true } as const
// An idempotency key would keep the first definition for ever.
const { idempotencyKey: _, ...NAMED } = ALARM_OPTIONS
const ITEM_FIELDS = { ...NAMED, when: true, timezone: true, paused: true } as const
const NAME_DEFAULT = 'default'
/** The refusals of a rule that has no instant any more. */
const OVER = new Set<string>([
  'rule.outside_bounds',
  'rule.all_past',
  'rule.until_before_first',
  'rule.only_days_off',
])
/** Alarms are cancelled in chunks, so that other calls get the write lock in between. */
const CANCELLED_AT_ONCE = 500

/**
 * Declares a list of alarms in one transaction, and then cancels those that are no longer in it. If the process ends in
 * between, the next call cancels them.
 */
export async function applyList(
  items: readonly DeclaredAlarm[],
  options: ApplyOptions,
  ports: ApplyPorts,
): Promise<Applied> {
  checkedList('apply', items, '{ key, when, ...options }')
  const { name = NAME_DEFAULT, prune = false } = checked<ApplyOptions>('apply', options, OPTIONS)
  assertName('name', name, ports.limits.nameBytesMax)
  if (typeof prune !== 'boolean')
    throw new WakefulError(
      'field.invalid',
      { expected: 'true or false', value: display(prune) },
      { field: 'prune' },
    )
  assertBatch(items, ports.limits)
  const keys = keysOf(items)
  const results = await storeList(items, name, ports)
  const keysBy = (...outcomes: SetResult['outcome'][]) =>
    results.flatMap(({ outcome, snapshot }) => (outcomes.includes(outcome) ? [snapshot.alarm.key!] : []))
  return {
    created: keysBy('created', 'restarted'),
    changed: keysBy('replaced'),
    unchanged: keysBy('unchanged'),
    removed: prune ? await cancelOthers(name, keys, ports) : [],
  }
}

/**
 * Stores the list. A rule that is over cannot be set, but its alarm may have been declared while it was not. That alarm is
 * left as it is; otherwise a program could not start any more once a rule of its list is over.
 */
async function storeList(
  items: readonly DeclaredAlarm[],
  declaredBy: string,
  ports: ApplyPorts,
): Promise<SetResult[]> {
  try {
    return [...(await ports.store(items, { declaredBy, withIndex: ofItem }))]
  } catch (thrown) {
    if (!isOver(thrown)) throw thrown
  }
  const over: SetResult[] = []
  const left: Placed[] = []
  for (const [at, item] of items.entries()) {
    const snapshot = await overAlarm({ item, at }, declaredBy, ports)
    if (snapshot === null) left.push({ item, at })
    else over.push({ snapshot, outcome: 'unchanged' })
  }
  const stored = await ports.store(
    left.map(({ item }) => item),
    { declaredBy, withIndex: (at, work) => ofItem(left[at]!.at, work) },
  )
  return [...over, ...stored]
}

/** The alarm of an item whose rule is over, which the list declares from now on; null if it is not over. */
async function overAlarm(
  { item, at }: Placed,
  declaredBy: string,
  ports: ApplyPorts,
): Promise<Snapshot | null> {
  try {
    await ports.request(item)
    return null
  } catch (thrown) {
    if (!isOver(thrown)) return null
    const snapshot = await ports.get(item.key)
    if (snapshot !== null && (await isDeclared(snapshot, item, ports)))
      return ports.adopt(snapshot, declaredBy)
    return ofItem(at, () => {
      throw thrown
    })
  }
}

/** Whether the alarm has ended, or has the rule that the item meant when the alarm was set. */
async function isDeclared(
  { alarm, timers, outcome }: Snapshot,
  item: DeclaredAlarm,
  { request }: ApplyPorts,
): Promise<boolean> {
  if (isEnd(stateOf(alarm, timers, outcome))) return true
  try {
    return isSameRule(alarm.rule, (await request(item, alarm.registeredAt)).alarm.rule)
  } catch (thrown) {
    if (!isOver(thrown)) throw thrown
    // Its calendar was edited since then, so that every day left is off: the rule cannot be read as it was meant.
    return thrown.reason === 'rule.only_days_off'
  }
}

function isOver(thrown: unknown): thrown is WakefulError {
  return thrown instanceof WakefulError && OVER.has(thrown.reason)
}

/** Refuses a batch that is too large. */
export function assertBatch(items: readonly unknown[], { batchMax }: Limits): void {
  if (items.length <= batchMax) return
  throw new WakefulError('batch.too_large', { count: items.length, max: batchMax }, { field: 'items' })
}

/** The keys of a list, which must be there and differ. */
function keysOf(items: readonly DeclaredAlarm[]): ReadonlySet<string> {
  const keys = new Set<string>()
  for (const [at, item] of items.entries())
    ofItem(at, () => {
      const { key } = checked<DeclaredAlarm>('apply', item, ITEM_FIELDS)
      if (key === undefined) throw new WakefulError('apply.no_key', {}, { field: 'key' })
      if (keys.has(key)) throw new WakefulError('apply.same_key', { key: display(key) }, { field: 'key' })
      keys.add(key)
    })
  return keys
}

/** Cancels the alarms that an earlier list of this name declared, except these. */
async function cancelOthers(
  declaredBy: string,
  keys: ReadonlySet<string>,
  { cancel }: ApplyPorts,
): Promise<string[]> {
  const removed: string[] = []
  // What was cancelled while it fires leaves the list once it has ended.
  const mayCancel = ({ alarm, timers, outcome }: Snapshot) =>
    !keys.has(alarm.key!) && (alarm.cancelledAt === null || isEnd(stateOf(alarm, timers, outcome)))
  for (let after: Serial | null = 0; after !== null; ) {
    const { results, next }: EditResult<CancelOutcome> = await cancel(
      { declaredBy, limit: CANCELLED_AT_ONCE, after },
      mayCancel,
    )
    for (const { answer, snapshot } of results) if (answer !== 'ended') removed.push(snapshot.alarm.key!)
    after = next
  }
  return removed
}
