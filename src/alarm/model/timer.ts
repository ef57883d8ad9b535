import { wakeTime } from '../../time/index.ts'
import type { Alarm } from './alarm.ts'

/** The number of a row: a bigint from 2^53 on, where a plain number loses precision. */
export type Serial = number | bigint

/** The largest in any store. */
export const LAST_SERIAL: Serial = 2n ** 63n - 1n

/** Parses a serial without losing digits. */
export function serialOf(text: string): Serial {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text)
}

/** Compares two serials. */
export function bySerial(a: Serial, b: Serial): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The next or the previous serial. */
export function stepped(serial: Serial, by: 1 | -1): Serial {
  return serialOf(String(BigInt(serial) + BigInt(by)))
}

/**
 * What a timer waits for: the next occurrence (`due`), one fired by hand (`forced`), the next attempt at an occurrence that
 * failed (`retry`), or the report on one that was delivered (`report`).
 */
export type TimerKind = 'due' | 'forced' | 'retry' | 'report'

/** Why a timer has no wake time, or a later one than its instant. */
export type Waiting = 'paused' | 'overlap' | 'handler' | 'operator_pause'

/** A pending wake, before a store has numbered it. */
export interface NewTimer {
  readonly kind: TimerKind
  /** The next moment at which the engine must look at this row; null while it is parked. */
  readonly wakeAt: number | null
  /** The instant of the occurrence, which names it. */
  readonly scheduledFor: number
  /**
   * The rule's own instant, where days off changed it: for a rule that moves, the instant that was moved; for one that
   * skips, the first skipped instant, which is recorded when this comes due. Null where it is `scheduledFor`.
   */
  readonly nominal: number | null
  /** The zone's offset by which the rule's instant was found; null where it does not depend on the wall clock. */
  readonly zoneOffset: number | null
  /**
   * No occurrence of this alarm fires at or before this instant: the previous one, or when it was set. A timer whose
   * instant is computed again never moves behind it. Null where it is never computed again.
   */
  readonly floor: number | null
  /** Which occurrence of its alarm this is, from 1; skipped ones count. See FORCED_TICK. */
  readonly tick: number
  readonly generation: number
  /** The number of failed attempts. */
  readonly attempt: number
  /** When the first attempt at this occurrence began. */
  readonly startedAt: number | null
  readonly waiting: Waiting | null
  /** Whether the log has the record of its delivery: a failed report may lead to another delivery. */
  readonly delivered: boolean
}

/** A report that arrived before its delivery was settled. */
export interface EarlyReport {
  readonly ok: boolean
  readonly text: string
}

/** A row of the working set. */
export interface Timer extends NewTimer {
  readonly id: Serial
  readonly shard: number
  /** Grows with every settle: an outcome is void unless it names the version that was claimed. */
  readonly version: number
  /** The alarm changed while this was in flight: its settle must read it again. */
  readonly edited: boolean
  readonly report: EarlyReport | null
}

/** The tick of an occurrence that a user fired by hand: it is not one of the rule's. */
export const FORCED_TICK = 0

/** An occurrence's name within its alarm; the generation keeps an upsert to the same instant from repeating it. */
export function occurrenceName(timer: NewTimer): string {
  const name = `${timer.generation}-${timer.scheduledFor}`
  return timer.tick === FORCED_TICK ? `${name}-forced` : name
}

/** An occurrence's id: one per due instant, the same over all its attempts. */
export function occurrenceId(alarm: Pick<Alarm, 'id'>, timer: NewTimer): string {
  return `${alarm.id}-${occurrenceName(timer)}`
}

/** The first occurrence of an alarm, before its instant is known. */
export const BLANK_TIMER: NewTimer = {
  kind: 'due',
  wakeAt: null,
  scheduledFor: 0,
  nominal: null,
  zoneOffset: null,
  floor: null,
  tick: 1,
  generation: 1,
  attempt: 0,
  startedAt: null,
  waiting: null,
  delivered: false,
}

/** A timer at an instant that no rule produced: fired by hand, or made by Wakeful itself. */
export function timerAt(alarm: Alarm, at: number): NewTimer {
  const wakeAt = wakeTime(alarm.rule, alarm.id, at)
  return { ...BLANK_TIMER, wakeAt, scheduledFor: at, generation: alarm.generation }
}
