import { type AlarmView, RawJson, type SetOptions, type TargetSpec, utf8Length } from '../../alarm/index.ts'
import { WakefulError } from '../../error.ts'
import { type AlarmRef, type Alarms, ofItem, type ResolvedRule } from '../../library/index.ts'
import { parseDuration } from '../../time/index.ts'

/** An alarm due this soon after it was set may be part of a loop. */
const SOON_MS = 300_000

/** What a call wants to do: set an alarm, edit one, or fire one now. */
export type QuotaRequest =
  | {
      readonly does: 'set'
      readonly options: SetOptions
      /** Which of a batch it is. */
      readonly item?: number
    }
  | {
      readonly does: 'edit'
      readonly ref: AlarmRef
      readonly moves: boolean
      readonly options: SetOptions
    }
  | { readonly does: 'fire' | 'retry'; readonly ref: AlarmRef }

/** How an alarm that was set or moved will fire, with the request that asked for it. */
export interface JudgedRule {
  readonly wanted: QuotaRequest
  readonly rule: ResolvedRule
}

/** Whether it fires soon: at once, or at a near first instant. Later instants are bounded by `min_interval`. */
export function isSoon({ rule }: JudgedRule, now: number): boolean {
  return rule.firstAt <= now + SOON_MS
}

/** Whether it causes a wake without a rule. */
export function firesNow({ does }: QuotaRequest): boolean {
  return does === 'fire' || does === 'retry'
}

/** Whether it stores a rule, which is judged when it is resolved. */
export function storesRule(wanted: QuotaRequest): boolean {
  return wanted.does === 'set' || (wanted.does === 'edit' && wanted.moves)
}

/** Whether there may be one more active alarm afterwards. A reschedule makes an alarm that awaits its report active. */
export function mayAdd(wanted: QuotaRequest): boolean {
  return wanted.does === 'retry' || storesRule(wanted)
}

/** Whether there will be one more, judging by the alarm as it is. An alarm that does not exist is rejected by the call itself. */
export async function addsOne(alarms: Alarms, wanted: QuotaRequest): Promise<boolean> {
  if (!mayAdd(wanted)) return false
  if (wanted.does !== 'set') return isActive(await alarms.get(wanted.ref)) === false
  const { key } = wanted.options
  return typeof key !== 'string' || isActive(await alarms.get({ key })) !== true
}

function isActive(alarm: AlarmView | null): boolean | null {
  return alarm && (alarm.status === 'active' || alarm.status === 'paused')
}

/** Throws if an alarm carries more bytes than its quota allows, in whichever field. */
export function assertSizes(wanted: readonly QuotaRequest[], bytesMax: number): void {
  for (const each of wanted)
    if ('options' in each)
      naming(each, () => {
        const bytes = sizeOf(each.options)
        if (bytes > bytesMax) throw new WakefulError('payload.over_quota', { bytes, max: bytesMax })
      })
}

/** Throws if an alarm fires more often than its quota allows. */
export function assertPeriods(judged: readonly JudgedRule[], minInterval: string): void {
  const minMs = parseDuration(minInterval)
  for (const { wanted, rule } of judged)
    naming(wanted, () => {
      if (rule.shortestMs < minMs) throw new WakefulError('quota.min_interval', { min: minInterval })
    })
}

/** Adds to an error which item of a batch it is about. */
function naming(wanted: QuotaRequest, judge: () => void): void {
  if ('item' in wanted && wanted.item !== undefined) ofItem(wanted.item, judge)
  else judge()
}

/** What has the wrong type has no size: the call itself refuses it. */
function sizeOf({ payload, message, target, onFailure }: SetOptions): number {
  const messageBytes = typeof message === 'string' ? utf8Length(message) : 0
  return jsonBytes(payload) + messageBytes + targetBytes(target) + targetBytes(onFailure)
}

/** The bytes of a target besides the name of its kind. The name of a handler is short. */
function targetBytes(target: TargetSpec | undefined): number {
  if (typeof target !== 'object' || target === null) return 0
  const values = Object.values(target).filter((value) => value !== true)
  return values.reduce<number>((sum, value) => sum + jsonBytes(value), 0)
}

function jsonBytes(value: unknown): number {
  if (value === undefined) return 0
  return utf8Length(value instanceof RawJson ? value.text : JSON.stringify(value))
}
