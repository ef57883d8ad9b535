import { WakefulError } from '../errors/core.ts'
import { HttpAlarms } from './alarms.ts'
import type { ConnectOptions, RemoteAlarms } from './api.ts'

const WHOLE_NUMBERS = { timeoutMs: 1, retries: 0, pollMs: 1 } as const

/** The alarms of a server. It sends no request until the first call. */
export function connect(url: string, options: ConnectOptions = {}): RemoteAlarms {
  for (const [name, min] of Object.entries(WHOLE_NUMBERS)) {
    const value = options[name as keyof typeof WHOLE_NUMBERS]
    if (value === undefined || (Number.isInteger(value) && value >= min)) continue
    throw new WakefulError(
      'field.not_whole_number',
      { min, max: null, value: String(value) },
      { field: name },
    )
  }
  return new HttpAlarms(url, options)
}
