import { describe, expect, test } from 'vitest'
import { WakefulError } from '../../error.ts'
import {
  EVENTS,
  isEnd,
  LIFECYCLE,
  type LifecycleEvent,
  nextCell,
  STATES,
  type State,
  statusOf,
  transition,
} from './lifecycle.ts'

const ALL = Object.keys(EVENTS) as LifecycleEvent[]
const REFUSALS = ['already_ended', 'conflict']
const KINDS = [
  ['once', false],
  ['recurring', true],
] as const

describe.each(KINDS)('the life of a %s alarm', (_, recurring) => {
  test.each(ALL.flatMap((event) => STATES.map((state) => [state, event] as const)))(
    '%s × %s follows the table',
    (state, event) => {
      const cell = nextCell(state, event, recurring)
      if (!REFUSALS.includes(cell)) {
        expect(transition(state, event, recurring)).toBe(cell)
        return
      }
      expect(() => transition(state, event, recurring)).toThrow(
        expect.objectContaining({ code: cell, name: 'WakefulError' }),
      )
    },
  )
})

test('every cell is a state or a refusal, and every event has words', () => {
  for (const event of ALL) {
    expect(EVENTS[event]).toMatch(/\w/)
    for (const state of STATES) expect([...STATES, ...REFUSALS]).toContain(LIFECYCLE[event][state])
  }
})

test('no event of the engine refuses: an outcome that comes late changes nothing', () => {
  const engines = [
    'delivered',
    'delivered_unreported',
    'attempt_failed',
    'exhausted',
    'target_gone',
    'missed',
    'report_overdue',
    'ran_out',
  ]
  for (const event of engines as LifecycleEvent[])
    for (const state of STATES) expect(REFUSALS).not.toContain(LIFECYCLE[event][state])
})

test('only a late report, a retry or setting the key again moves an alarm that has ended', () => {
  const moved = STATES.filter(isEnd).flatMap((state) =>
    ALL.filter((event) => {
      const cell = LIFECYCLE[event][state]
      return cell !== state && !REFUSALS.includes(cell)
    }).map((event) => `${state} × ${event}`),
  )
  const retried = ['failed × retry', 'timed_out × retry']
  const late = ['timed_out × exhausted', 'timed_out × reported']
  const again = STATES.filter(isEnd).map((state) => `${state} × set_again`)
  expect(new Set(moved)).toEqual(new Set([...retried, ...late, ...again]))
})

test('a recurring alarm is active, paused, completed or cancelled: its occurrences are the rest', () => {
  const found = new Set<State>(['active'])
  for (const state of found) {
    for (const event of ALL) {
      const cell = nextCell(state, event, true)
      if (!REFUSALS.includes(cell)) found.add(cell as State)
    }
  }
  expect(found).toEqual(new Set(['active', 'paused', 'cancelled', 'completed']))
})

test('says in a refusal what was asked and how the alarm stands', () => {
  const refusal = (state: State, event: LifecycleEvent) => {
    try {
      transition(state, event, false)
    } catch (thrown) {
      if (thrown instanceof WakefulError) return thrown.message
    }
    return ''
  }
  expect(refusal('completed', 'fire_now')).toBe('Cannot fire now: the alarm has ended (completed).')
  expect(refusal('awaiting', 'pause')).toBe('Cannot pause while the alarm is fired.')
  expect(refusal('paused', 'retry')).toMatch(/Only failed or timed_out alarms/)
})

test('shows awaiting as fired, and every other state as itself', () => {
  expect(STATES.map(statusOf)).toEqual(STATES.map((state) => (state === 'awaiting' ? 'fired' : state)))
})
