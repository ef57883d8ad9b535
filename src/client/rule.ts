import { parseDuration, parseStep } from '../time/durations/index.ts'
import type { DstPolicy, Exclusion, Misfire, Rule } from '../time/index.ts'
import type { Wire } from './transport.ts'

/** The options of a rule on the wire. */
interface WireWhen {
  readonly start?: string
  readonly end?: string
  readonly count?: number
  readonly jitter?: string
  readonly misfire?: 'once' | 'skip' | { readonly all: { readonly max: number; readonly within: string } }
  readonly dst?: DstPolicy
  readonly exclude?: Omit<Exclusion, 'weekend'> & { readonly weekend?: readonly string[] }
}

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']

/**
 * The rule of an alarm on the wire. The wire does not have the anchor of intervals, so this uses the start or the creation
 * of the alarm, which is wrong after a reschedule.
 */
export function ruleOf(wire: Wire<'set'>): Rule {
  const { kind, timezone, cron_expr: cron, rrule, every } = wire
  const when: WireWhen = wire.when ?? {}
  const misfire = when.misfire && misfireOf(when.misfire)
  const rule =
    kind === 'once'
      ? { kind, at: Date.parse(wire.fire_at!), timezone, misfire }
      : {
          ...{ kind, cron, rrule, every, ...(every !== undefined && parseStep(every)) },
          anchor: Date.parse(when.start ?? wire.created_at),
          timezone,
          start: when.start && Date.parse(when.start),
          end: when.end && Date.parse(when.end),
          count: when.count,
          jitterMs: when.jitter && parseDuration(when.jitter),
          misfire,
          exclude: when.exclude && exclusionOf(when.exclude),
          dst: when.dst,
        }
  return Object.fromEntries(
    Object.entries(rule).filter(([, value]) => value !== undefined),
  ) as unknown as Rule
}

function misfireOf(misfire: NonNullable<WireWhen['misfire']>): Misfire {
  if (typeof misfire === 'string') return misfire
  return { all: { max: misfire.all.max, withinMs: parseDuration(misfire.all.within) } }
}

function exclusionOf({ weekend, ...rest }: NonNullable<WireWhen['exclude']>): Exclusion {
  return { ...rest, ...(weekend !== undefined && { weekend: weekend.map((day) => DAYS.indexOf(day) + 1) }) }
}

const INSTANTS: ReadonlySet<string> = new Set(['at', 'anchor', 'start', 'end'])

/** The rule of a preview, which is complete. */
export function ruleOfPreview(wire: Readonly<Record<string, unknown>>): Rule {
  return camelNames(wire, (name, value) =>
    INSTANTS.has(name) ? Date.parse(value as string) : value,
  ) as unknown as Rule
}

/** An object with its names in camelCase, at every level. */
export function camelNames(
  fields: Readonly<Record<string, unknown>>,
  read: (name: string, value: unknown) => unknown = (_, value) => value,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([wireName, value]) => {
      const name = wireName.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
      return [name, isObject ? camelNames(value as Record<string, unknown>) : read(name, value)]
    }),
  )
}
