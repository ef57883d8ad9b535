/** Prints docs/reference/lifecycle.md from the state table: `node tools/lifecycle-doc.ts > docs/reference/lifecycle.md`. */
import { EVENTS, LIFECYCLE, type LifecycleEvent, nextCell, STATES, type State } from '../src/alarm/index.ts'

const MEANINGS: Readonly<Record<State, string>> = {
  active: 'waits for its instant, or for the next attempt',
  paused: 'does not fire until it is resumed',
  awaiting: 'was delivered and waits for its report; its status is `fired`',
  fired: 'was delivered, and needs no report',
  completed: 'reported success; or it recurs and has no further instant',
  failed: 'used up its attempts, or was missed and has `misfire: skip`',
  timed_out: 'was delivered, and no report came in time',
  cancelled: 'was cancelled by the user, or because its target no longer exists',
}

const events = Object.keys(EVENTS) as LifecycleEvent[]

/** The page, from the table in src/alarm/model/lifecycle.ts. */
export function lifecycleDoc(): string {
  return `<!-- Written by tools/lifecycle-doc.ts from src/alarm/model/lifecycle.ts: change the table, then run \`npm run docs\`. -->

# The life of an alarm

One table defines the life of an alarm: for each state and event, the state that follows or the code of the
error. The library, the store and this page all read that table.

## States

| state | an alarm in it |
|---|---|
${STATES.map((state) => `| \`${state}\` | ${MEANINGS[state]} |`).join('\n')}

\`awaiting\` has the status \`fired\`; the status of every other state is its name.

## Events

| event | means |
|---|---|
${events.map((event) => `| \`${event}\` | ${EVENTS[event]} |`).join('\n')}

## A one-shot alarm

Each cell is the state that follows. \`·\` leaves the alarm as it is; a word in *italics* is the code of the error.

${table(false)}

The same without events that change nothing or are errors:

${diagram()}

## A recurring alarm

The outcomes of its occurrences do not change its state: it remains \`active\` until it is paused, cancelled, moved,
or has no further instant. The outcome of each occurrence is in the event log; the newest is also in the alarm's \`result\`,
\`lastError\` and \`failureCount\`.

${table(true)}
`
}

function table(recurring: boolean): string {
  const states = recurring ? STATES.filter((state) => state !== 'awaiting' && state !== 'fired') : STATES
  const rows = events.map((event) => {
    const cells = states.map((state) => cellText(state, nextCell(state, event, recurring)))
    return `| \`${event}\` | ${cells.join(' | ')} |`
  })
  return [
    `| event \\ state | ${states.join(' | ')} |`,
    `|---|${states.map(() => '---|').join('')}`,
    ...rows,
  ].join('\n')
}

function cellText(state: State, cell: ReturnType<typeof nextCell>): string {
  if (cell === state) return '·'
  return cell === 'already_ended' || cell === 'conflict' ? `*${cell}*` : cell
}

function diagram(): string {
  const moves = new Map<string, LifecycleEvent[]>()
  for (const event of events) {
    for (const state of STATES) {
      const cell = LIFECYCLE[event][state]
      if (cell === state || cell === 'already_ended' || cell === 'conflict') continue
      const arrow = `${state} --> ${cell}`
      moves.set(arrow, [...(moves.get(arrow) ?? []), event])
    }
  }
  const arrows = [...moves].map(([arrow, names]) => `  ${arrow}: ${names.join(', ')}`)
  return ['```mermaid', 'stateDiagram-v2', '  [*] --> active: set', ...arrows, '```'].join('\n')
}

if (import.meta.main) process.stdout.write(lifecycleDoc())
