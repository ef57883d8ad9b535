import { assertMembers, WakefulError } from '../../error.ts'
import { durationOf, formatDuration } from '../durations/index.ts'
import { JITTER_MS_MAX, type Misfire } from '../rules/index.ts'
import { assertWhole, quote } from '../text/index.ts'
import { DST_DEFAULT, type DstPolicy } from '../zones/index.ts'

/** What happens to missed instants, as input. */
export type MisfireInput = 'once' | 'skip' | 'all' | { all: { max?: number; within?: string } }

/** What clock changes do to a rule, as input; missing fields have their defaults. */
export type DstInput = Partial<DstPolicy>

const ALL_MAX_DEFAULT = 1000
const ALL_WITHIN_MS_DEFAULT = 86_400_000
const GAPS: readonly unknown[] = ['shift', 'skip'] satisfies DstPolicy['gap'][]
const OVERLAPS: readonly unknown[] = ['first', 'last', 'both'] satisfies DstPolicy['overlap'][]

/** Parses a misfire policy. */
export function readMisfire(input: unknown): Misfire | undefined {
  if (input === undefined || input === 'once' || input === 'skip') return input
  const all = input === 'all' ? {} : membersOf('misfire', input, ['all'])?.all
  const bounds = membersOf('misfire.all', all, ['max', 'within'])
  if (bounds === null) {
    const expected = "'once', 'skip', 'all' or { all: { max: 1000, within: '24h' } }"
    throw new WakefulError('field.invalid', { expected, value: quote(input) }, { field: 'misfire' })
  }
  const { max = ALL_MAX_DEFAULT, within } = bounds
  const most = assertWhole('misfire.all.max', max, [1])
  const withinMs = within === undefined ? ALL_WITHIN_MS_DEFAULT : durationOf('misfire.all.within', within)
  if (withinMs < 1) throw new WakefulError('when.misfire_within', {}, { field: 'misfire.all.within' })
  return { all: { max: most, withinMs } }
}

/** Parses what clock changes do to a rule. */
export function readDst(input: unknown): DstPolicy | undefined {
  if (input === undefined) return undefined
  const fields = membersOf('dst', input, ['gap', 'overlap'])
  const { gap = DST_DEFAULT.gap, overlap = DST_DEFAULT.overlap } = fields ?? {}
  if (fields !== null && GAPS.includes(gap) && OVERLAPS.includes(overlap))
    return { gap, overlap } as DstPolicy
  const expected = "{ gap: 'shift' or 'skip', overlap: 'first', 'last' or 'both' }"
  throw new WakefulError('field.malformed', { expected }, { field: 'dst' })
}

/** Parses a jitter to milliseconds; zero is the same as none. */
export function readJitter(input: unknown): number | undefined {
  if (input === undefined) return undefined
  const ms = durationOf('jitter', input)
  if (ms <= JITTER_MS_MAX) return ms === 0 ? undefined : ms
  const expected = `at most ${formatDuration(JITTER_MS_MAX)}`
  throw new WakefulError('field.invalid', { expected, value: quote(input) }, { field: 'jitter' })
}

/** The members of an object, which may have no others; null for what is no object. */
function membersOf<Name extends string>(
  field: string,
  input: unknown,
  names: readonly Name[],
): Partial<Record<Name, unknown>> | null {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return null
  assertMembers(field, input, names)
  return input
}
