import { WakefulError } from '../../error.ts'
import { describeExclusion, toExcludeInput } from '../calendars/index.ts'
import { formatDuration, KINDS } from '../durations/index.ts'
import {
  describeDst,
  describeJitter,
  describeMisfire,
  describeTimes,
  intervalOf,
  type Rule,
} from '../rules/index.ts'
import { textOf } from './recurring.ts'
import {
  isWhenObject,
  type Resolved,
  resolveWhen,
  type When,
  type WhenContext,
  type WhenObject,
} from './when.ts'

/** Options that stay when the new rule does not set them. */
const KEPT = ['exclude', 'misfire', 'jitter', 'dst'] as const

type KeptOptions = Pick<WhenObject, (typeof KEPT)[number]>

/**
 * Resolves the when of a reschedule. One instant for a recurring alarm is refused: people who write "friday at 10am" mean the
 * next occurrence more often than the end of the recurrence, and lose it silently. Anything else replaces the whole rule, including start, end and count; only `exclude`, `misfire`,
 * `jitter` and `dst` stay if it does not set them. A when with options alone changes only those. `ticksGone` is how many
 * occurrences of the old rule's count are used up.
 */
export function resolveReschedule(old: Rule, when: When, context: WhenContext, ticksGone = 0): Resolved {
  if (isWhenObject(when) && KINDS.every((kind) => when[kind] === undefined)) {
    const options = Object.fromEntries(Object.entries(when).filter(([, value]) => value !== undefined))
    if (Object.keys(options).length > 0) return resolveOptionsOnly(old, options, context, ticksGone)
  }
  const fresh = resolveWhen(when, context)
  if (fresh.rule.kind === 'once' && old.kind !== 'once')
    throw new WakefulError('reschedule.ends_recurrence', { rule: describeTimes(old) })
  const kept = keptOptions(old, when, fresh.rule)
  if (Object.keys(kept).length === 0) return fresh
  const resolved = resolveKept({ ...(isWhenObject(when) ? when : { at: when }), ...kept }, context)
  return { ...resolved, notes: [...resolved.notes, ...stillNotes(resolved.rule, kept)] }
}

/** The options of the old rule that the new when does not set, as input. */
function keptOptions(old: Rule, when: When, fresh: Rule): KeptOptions {
  const input: WhenObject = isWhenObject(when) ? when : {}
  const of = ruleOptions(old)
  if (fresh.kind === 'once') {
    return old.kind === 'once' && of.misfire !== undefined && input.misfire === undefined
      ? { misfire: of.misfire }
      : {}
  }
  const mayHave = (name: (typeof KEPT)[number]) => {
    if (of[name] === undefined || input[name] !== undefined) return false
    // A phrase can set days off too ('except us-holidays'); `dst` does not apply to fixed intervals.
    return name === 'exclude' ? fresh.exclude === undefined : name !== 'dst' || intervalOf(fresh) === null
  }
  return Object.fromEntries(KEPT.filter(mayHave).map((name) => [name, of[name]]))
}

/** The `misfire`, `exclude`, `jitter` and `dst` of a rule, as input. */
export function ruleOptions(rule: Rule): KeptOptions {
  const { misfire } = rule
  const input =
    typeof misfire === 'object'
      ? { all: { max: misfire.all.max, within: formatDuration(misfire.all.withinMs) } }
      : misfire
  if (rule.kind === 'once') return input === undefined ? {} : { misfire: input }
  return {
    ...(rule.jitterMs !== undefined && { jitter: formatDuration(rule.jitterMs) }),
    ...(input !== undefined && { misfire: input }),
    ...('dst' in rule && rule.dst !== undefined && { dst: rule.dst }),
    ...(rule.exclude !== undefined && { exclude: toExcludeInput(rule.exclude) }),
  }
}

/** Resolves the old rule with other options: its text, bounds and anchor stay. */
function resolveOptionsOnly(
  old: Rule,
  options: WhenObject,
  context: WhenContext,
  ticksGone: number,
): Resolved {
  const timezone = options.timezone ?? old.timezone
  if (old.kind === 'once') return resolveWhen({ at: momentOf(old), ...options, timezone }, context)
  const left = old.count === undefined ? undefined : Math.max(1, old.count - ticksGone)
  const whole: WhenObject = {
    [old.kind]: textOf(old),
    ...(old.start !== undefined && { start: new Date(old.start) }),
    ...(old.end !== undefined && { end: new Date(old.end) }),
    ...(left !== undefined && { count: left }),
    ...ruleOptions(old),
    ...options,
  }
  return resolveWhen(whole, { ...context, timezone, anchor: old.anchor })
}

/** The instant as it was set: as a wall time, if it was one. */
function momentOf({ at, wall }: Extract<Rule, { kind: 'once' }>): Date | string {
  return wall === undefined ? new Date(at) : new Date(wall).toISOString().slice(0, -1)
}

/** Resolves a when with kept options. If the old days off do not fit the new rule, the error says where they come from. */
function resolveKept(when: WhenObject, context: WhenContext): Resolved {
  try {
    return resolveWhen(when, context)
  } catch (thrown) {
    if (!(thrown instanceof WakefulError)) throw thrown
    throw when.exclude === undefined
      ? thrown
      : new WakefulError('rule.kept_exclusion', {}, { code: thrown.code, errors: [thrown], cause: thrown })
  }
}

/** Notes about the kept options: "still except on us-holidays". */
function stillNotes(rule: Rule, kept: KeptOptions): string[] {
  const missed = kept.misfire === undefined ? '' : describeMisfire(rule)
  if (rule.kind === 'once') return missed === '' ? [] : [`still ${missed}`]
  const words = [
    kept.exclude === undefined || rule.exclude === undefined ? '' : describeExclusion(rule.exclude),
    kept.jitter === undefined ? '' : describeJitter(rule),
    kept.dst === undefined ? '' : describeDst(rule),
    missed,
  ]
  return words.filter((text) => text !== '').map((text) => `still ${text.replace(/^, /, '')}`)
}
