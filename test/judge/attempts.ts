import { type Violation, violation } from './breach.ts'
import type { Facts } from './facts.ts'
import type { Chain } from './model.ts'

/** An occurrence gets exactly the configured number of attempts before it fails for good. */
export function attempts({ starts, asks, chains }: Facts): Violation[] {
  const found: Violation[] = []
  for (const { name, occurrenceId, attempt } of starts) {
    const { attemptsMax = Number.POSITIVE_INFINITY } = asks.get(name)?.ask ?? {}
    if (attempt > attemptsMax)
      found.push(violation('attempts', `${occurrenceId} has attempt ${attempt} of ${attemptsMax}`))
  }
  return [...found, ...chains.flatMap(failedEarly)]
}

/** An occurrence that was cancelled or rescheduled meanwhile may fail after fewer attempts. */
function failedEarly({ asks, calls, records }: Chain): Violation[] {
  const [call, another] = asks
  if (call?.ask.attemptsMax === undefined || another !== undefined) return []
  if (calls.some(({ kind, answer }) => kind === 'cancel' && answer !== 'no')) return []
  const { attemptsMax } = call.ask
  return records.flatMap(({ type, occurrenceId, attempts }) => {
    if (type !== 'alarm.failed' || attempts === undefined || attempts >= attemptsMax) return []
    return [
      violation('attempts', `${occurrenceId} failed for good after ${attempts} attempts of ${attemptsMax}`),
    ]
  })
}
