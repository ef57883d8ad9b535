import { type Violation, violation } from './breach.ts'
import type { Facts } from './facts.ts'

/** A set that was repeated after a lost answer makes a second alarm, which nobody was told of. */
export function twins({ starts, asks }: Facts): Violation[] {
  const found: Violation[] = []
  const begun = new Map<string, string>()
  for (const { name, alarmId, occurrenceId } of starts) {
    const call = asks.get(name)
    const known = call?.alarmId ?? begun.get(name)
    // A key that was set again may have been another's alarm all along.
    if (known === undefined) begun.set(name, alarmId)
    else if (known !== alarmId && call?.ask.key === null)
      found.push(
        violation('phantom', `${occurrenceId} (${name}) was delivered, but the alarm set is ${known}`),
      )
  }
  return found
}
