import type { Bug } from './bug.ts'

const SET_AGAIN = 'src/alarm/decisions/set-again.ts'
const ALWAYS_REPLACED = {
  file: SET_AGAIN,
  from: 'if (!isSameDefinition(alarm, wanted.alarm)) {',
  to: "if (alarm.id !== '') {",
}
const NOT_SETTLED = {
  file: 'src/alarm/decisions/edit.ts',
  from: 'const due = settleDue(snapshot, context)',
  to: 'const due: ReturnType<typeof settleDue> = { events: [], owed: [] }',
}
const UNPAUSED = {
  file: 'src/alarm/model/lifecycle.ts',
  from: "set_again: { active: 'active', paused: 'paused'",
  to: "set_again: { active: 'active', paused: 'active'",
}

/** Bugs that show when programs declare their alarms at every start. */
export const BOOT_BUGS: readonly Bug[] = [
  {
    // What a set by key did before it compared definitions.
    bug: 'a set by key replaces the alarm at every start, drops what was due and undoes a pause',
    breaches: ['lost', 'while_paused'],
    edits: [ALWAYS_REPLACED, NOT_SETTLED, UNPAUSED],
  },
  {
    bug: 'a definition that is unchanged is written again',
    breaches: ['redeclared'],
    edits: [ALWAYS_REPLACED],
  },
  { bug: 'a changed definition drops what was due', breaches: ['lost'], edits: [NOT_SETTLED] },
  { bug: 'a changed definition undoes a pause', breaches: ['while_paused'], edits: [UNPAUSED] },
  {
    bug: 'what came due after an occurrence in flight is dropped when the definition changes',
    breaches: ['lost'],
    seeds: 500,
    edits: [
      {
        file: 'src/alarm/decisions/settle-due.ts',
        from: 'return inFlight.has(due.id) ? onward(due, following(alarm, due)) : due',
        to: 'return inFlight.has(due.id) ? null : due',
      },
    ],
  },
  {
    bug: 'what a changed definition left to fire is dropped by the next change',
    breaches: ['lost', 'unrecorded'],
    seeds: 1000,
    edits: [
      {
        file: 'src/alarm/decisions/settle-due.ts',
        from: "return kind === 'forced' || (kind === 'retry' && attempt === 0 && startedAt === null)",
        to: "return kind === 'forced' && attempt === 0 && startedAt === null",
      },
      {
        file: 'src/alarm/decisions/edit.ts',
        from: '(timer: Timer) => !recurs(alarm) || !isUnattempted(timer)',
        to: '(timer: Timer) => !recurs(alarm) || (!isUnattempted(timer) && timer.attempt > 0)',
      },
    ],
  },
]
