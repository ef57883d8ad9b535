import type { AlarmView } from '../alarm/index.ts'
import { withFields } from '../contracts/index.ts'
import type { Alarms } from '../index.ts'

/** Alarms as the JSON of a page, each as it is on the wire, so that payloads come back digit for digit. */
export async function wireItems(
  alarms: Alarms,
  items: readonly AlarmView[],
  more: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const texts = await Promise.all(items.map((alarm) => alarms.wire(alarm.id)))
  // One that was pruned since it was listed is gone.
  const present = texts.filter((text) => text !== null)
  return withFields(`{"items":[${present.join(',')}]}`, more)
}
