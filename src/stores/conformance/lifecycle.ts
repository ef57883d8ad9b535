import assert from 'node:assert/strict'
import { EVENTS, type LifecycleEvent, next, STATES, type State } from '../../alarm/index.ts'
import { WakefulError } from '../../error.ts'
import { reach } from './alarm-states.ts'
import { type ConformanceCase, casesOf } from './conformance-case.ts'
import { EVENT_STEPS } from './happening.ts'
import type { Harness } from './harness.ts'

const ALL_EVENTS = Object.keys(EVENTS) as LifecycleEvent[]

/** Every state × event of the table, of once and of recurring alarms, in the store's hands. */
export const lifecycleCases: readonly ConformanceCase[] = [false, true].flatMap((recurring) =>
  reachable(recurring).flatMap((state) =>
    ALL_EVENTS.filter((event) => recurring || event !== 'ran_out').flatMap((event) => {
      const expected = expectation(state, event, recurring)
      const kind = recurring ? 'recurring' : 'once'
      return casesOf('lifecycle', {
        [`${kind} ${state} × ${event} → ${expected}`]: (harness) =>
          happen(harness, state, event, recurring, expected),
      })
    }),
  ),
)

/** The states that events lead to: a recurring alarm's occurrences end in the others, it does not. */
function reachable(recurring: boolean): State[] {
  const found = new Set<State>(['active'])
  for (const state of found) {
    for (const event of ALL_EVENTS) {
      const cell = next(state, event, recurring)
      if (STATES.includes(cell as State)) found.add(cell as State)
    }
  }
  return STATES.filter((state) => found.has(state))
}

/** What the table says, and where a store's port says more than it. */
function expectation(state: State, event: LifecycleEvent, recurring: boolean): string {
  const cell = next(state, event, recurring)
  // An alarm with one occurrence has no next one to skip.
  if (event === 'skip_next' && !recurring && STATES.includes(cell as State)) return 'invalid_request'
  // Its delivery is behind it: the only one that can still arrive is the same one again.
  return event === 'delivered' && state === 'awaiting' ? state : cell
}

async function happen(
  harness: Harness,
  state: State,
  event: LifecycleEvent,
  recurring: boolean,
  expected: string,
): Promise<void> {
  const standing = await reach(harness, state, event, recurring)
  assert.equal(await harness.state(standing.id), state, 'the alarm was brought into its state')
  const before = [await harness.get(standing.id), await harness.events()]
  try {
    await EVENT_STEPS[event](standing)
  } catch (thrown) {
    if (!(thrown instanceof WakefulError)) throw thrown
    assert.equal(thrown.code, expected)
    assert.deepEqual(
      [await harness.get(standing.id), await harness.events()],
      before,
      'a refusal changes nothing',
    )
    return
  }
  assert.equal(await harness.state(standing.id), expected)
}
