import { WakefulError } from '../../error.ts'
import { formatDuration, parseDuration } from '../durations/index.ts'
import { JITTER_MS_MAX, type Misfire } from '../rules/index.ts'
import { quote } from '../text/index.ts'
import { DST_DEFAULT, type DstPolicy } from '../zones/index.ts'

/** What to do with instants that passed unseen, as users say it. */
export type MisfireInput = 'once' | 'skip' | 'all' | { all: { max?: number; within?: string } }

/** What clock changes do to a rule, as users say it: what is left out is the default. */
export type DstInput = Partial<DstPolicy>

const ALL_MAX_DEFAULT = 1000
const ALL_WITHIN_MS_DEFAULT = 86_400_000
const GAPS: readonly unknown[] = ['shift', 'skip'] satisfies DstPolicy['gap'][]
const OVERLAPS: readonly unknown[] = ['first', 'last', 'both'] satisfies DstPolicy['overlap'][]

/** Reads a misfire policy. */
export function readMisfire(given: unknown): Misfire | undefined {
  if (given === undefined || given === 'once' || given === 'skip') return given
  const all = given === 'all' ? {} : fieldsOf(given, ['all'])?.all
  const bounds = fieldsOf(all, ['max', 'within'])
  if (bounds === null) {
    throw new WakefulError(
      'invalid_request',
      `misfire ${quote(given)} is unknown: use 'once', 'skip', 'all' or { all: { max: 1000, within: '24h' } }`,
    )
  }
  const { max = ALL_MAX_DEFAULT, within } = bounds
  if (!Number.isSafeInteger(max) || (max as number) < 1) {
    throw new WakefulError('invalid_request', `misfire max ${quote(max)} is not a whole number from 1 on`)
  }
  const withinMs = within === undefined ? ALL_WITHIN_MS_DEFAULT : parseDuration(within as string)
  if (withinMs < 1)
    throw new WakefulError('invalid_request', "misfire within '0s' would fire none: use 'skip'")
  return { all: { max: max as number, withinMs } }
}

/** Reads what clock changes do to a rule. */
export function readDst(given: unknown): DstPolicy | undefined {
  if (given === undefined) return undefined
  const fields = fieldsOf(given, ['gap', 'overlap'])
  const { gap = DST_DEFAULT.gap, overlap = DST_DEFAULT.overlap } = fields ?? {}
  if (fields !== null && GAPS.includes(gap) && OVERLAPS.includes(overlap))
    return { gap, overlap } as DstPolicy
  throw new WakefulError(
    'invalid_request',
    "dst is { gap: 'shift' or 'skip', overlap: 'first', 'last' or 'both' }",
  )
}

/** Reads a jitter as milliseconds; none at all is the same as zero. */
export function readJitter(given: unknown): number | undefined {
  if (given === undefined) return undefined
  const ms = parseDuration(given as string)
  if (ms <= JITTER_MS_MAX) return ms === 0 ? undefined : ms
  throw new WakefulError(
    'invalid_request',
    `jitter ${quote(given)} is longer than ${formatDuration(JITTER_MS_MAX)}`,
  )
}

/** The fields of a plain object that has no others; null for anything else. */
function fieldsOf<Name extends string>(
  given: unknown,
  names: readonly Name[],
): Partial<Record<Name, unknown>> | null {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return null
  return Object.keys(given).every((name) => names.includes(name as Name)) ? given : null
}
