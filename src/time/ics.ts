import { WakefulError } from '../error.ts'

/** Reads the days off of an .ics file. */
export function readIcs(_text: string, _now: number): { days: Map<number, string>; notes: string[] } {
  throw new WakefulError('invalid_request', 'a calendar: ics is not read yet')
}
