/** The times of day of a cron expression, in seconds since midnight. */
export interface DayTimes {
  /** The first at or after this second; null if there is none. */
  from(second: number): number | null
  /** How many are before this second. */
  before(second: number): number
}

/** The values of a cron field as croner parses them: an array with a truthy flag for each value named. */
export type Flags = readonly number[]

interface Field {
  from(value: number): number | null
  before(value: number): number
}

/** Compiles the hour, minute and second fields. If the hour is a step (a number), hours count on past 24. */
export function dayTimes(hour: Flags | number, minute: Flags, second: Flags): DayTimes {
  const hours = typeof hour === 'number' ? multiples(hour) : table(hour)
  const minutes = table(minute)
  const seconds = table(second)
  const first = (field: Field) => field.from(0)!
  const perMinute = seconds.before(60)
  const perHour = minutes.before(60) * perMinute

  const fromHour = (value: number) => {
    const found = hours.from(value)
    return found === null ? null : (found * 60 + first(minutes)) * 60 + first(seconds)
  }
  return {
    from(at) {
      const [h, m, s] = [Math.floor(at / 3600), Math.floor(at / 60) % 60, at % 60]
      if (hours.from(h) !== h) return fromHour(h)
      const sameMinute = minutes.from(m) === m ? seconds.from(s) : null
      if (sameMinute !== null) return at - s + sameMinute
      const later = minutes.from(m + 1)
      return later === null ? fromHour(h + 1) : (h * 60 + later) * 60 + first(seconds)
    },
    before(at) {
      const [h, m, s] = [Math.floor(at / 3600), Math.floor(at / 60) % 60, at % 60]
      const inHour = hours.from(h) === h ? minutes.before(m) * perMinute : 0
      const inMinute = hours.from(h) === h && minutes.from(m) === m ? seconds.before(s) : 0
      return hours.before(h) * perHour + inHour + inMinute
    },
  }
}

function table(flags: Flags): Field {
  const before = [0]
  for (const flag of flags) before.push(before.at(-1)! + (flag ? 1 : 0))
  const from: (number | null)[] = [null]
  for (let value = flags.length - 1; value >= 0; value--) from.unshift(flags[value] ? value : from[0]!)
  return { from: (value) => from[value] ?? null, before: (value) => before[value]! }
}

function multiples(step: number): Field {
  return { from: (value) => Math.ceil(value / step) * step, before: (value) => Math.ceil(value / step) }
}
