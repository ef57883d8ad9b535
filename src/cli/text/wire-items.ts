import { type AlarmView, wireJson } from '../../alarm/index.ts'
import { withFields } from '../../library/index.ts'

/** Alarms as the JSON of a page, each as it is on the wire, so that payloads come back digit for digit. */
export function wireItems(items: readonly AlarmView[], more: Readonly<Record<string, unknown>> = {}): string {
  return withFields(`{"items":[${items.map(wireJson).join(',')}]}`, more)
}
