import { assertTimezone } from '../../../src/time/index.ts'
import { Bogus } from './checks.ts'
import { pick, type Subject } from './subject.ts'
import { type Language, textFrom } from './texts.ts'

const NAMES = [
  ...Intl.supportedValuesOf('timeZone'),
  ...'UTC GMT Etc/GMT+5 Etc/UTC US/Eastern Asia/Calcutta EST5EDT CET Asia/Kathmandu America/Argentina/ComodRivadavia'.split(
    ' ',
  ),
]

const ZONE: Language = {
  valid(random) {
    const name = pick(random, NAMES)
    return random.chance(0.8) ? name : random.chance(0.5) ? name.toLowerCase() : name.toUpperCase()
  },
  pieces:
    'Europe/ Rome America/ New_York Etc/GMT +1 -05:00 UTC GMT Z [UTC] 2026-01-01T00:00[UTC] / // ../ _ - Argentina/ PST CEST local'.split(
      ' ',
    ),
}

/** The parser of zone names. For an unknown one it searches a suggestion among all names, which must be fast too. */
export const timezone: Subject<string, string> = {
  name: 'timezone',
  make: (random) => textFrom(random, ZONE),
  read: (text) => assertTimezone(text),
  check(text, name) {
    if (name.toLowerCase() !== text.toLowerCase()) throw new Bogus(`it is read as ${name}`)
    if (assertTimezone(name) !== name) throw new Bogus(`${name} is then read as ${assertTimezone(name)}`)
    new Intl.DateTimeFormat('en', { timeZone: name })
  },
}
