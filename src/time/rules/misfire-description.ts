import { formatDuration } from '../durations/index.ts'
import type { Rule } from './rule.ts'

/** What becomes of instants that nobody was there for, in words; nothing where it is the usual. */
export function describeMisfire({ kind, misfire }: Rule): string {
  if (misfire === undefined || misfire === 'once') return ''
  if (kind === 'once') return 'if missed: it does not fire'
  if (misfire === 'skip') return 'missed ticks: none fire'
  const { max, withinMs } = misfire.all
  const most = `at most ${max.toLocaleString('en-US')}`
  return `missed ticks: all fire, ${most} of the last ${formatDuration(withinMs)}`
}
