import { type Violation, violation } from './breach.ts'
import type { Facts } from './facts.ts'

/** A set that is repeated after a lost answer must not create a second alarm. */
export function duplicateAlarms({ starts, asks }: Facts): Violation[] {
  const found: Violation[] = []
  const seen = new Map<string, string>()
  for (const { name, alarmId, occurrenceId } of starts) {
    const call = asks.get(name)
    const known = call?.alarmId ?? seen.get(name)
    // A key that is set again may refer to an existing alarm.
    if (known === undefined) seen.set(name, alarmId)
    else if (known !== alarmId && call?.ask.key === null)
      found.push(
        violation('phantom', `${occurrenceId} (${name}) was delivered, but the alarm set is ${known}`),
      )
  }
  return found
}
