import type { Breach } from '../judge/breach.ts'
import type { Planted } from './plant.ts'

/** A bug made by one edit, and the violations the campaign must report. */
interface Simple {
  readonly bug: string
  readonly file: string
  readonly from: string
  readonly to: string
  readonly breaches: readonly (Breach | 'damage')[]
}

const SQLITE: readonly Simple[] = [
  {
    bug: 'a set is answered before it is written',
    file: 'src/stores/sqlite/connection/write-queue.ts',
    from: "this.#session.db.exec('COMMIT')",
    to: "for (const [index, answer] of answers.entries()) jobs[index]!.resolve(answer as never)\n      await new Promise((resolve) => setTimeout(resolve, 20))\n      this.#session.db.exec('COMMIT')",
    breaches: ['lost'],
  },
  {
    bug: 'the clock fires 30 ms ahead',
    file: 'src/hosts/node/system-clock.ts',
    from: 'now: () => Date.now(),',
    to: 'now: () => Date.now() + 30,',
    breaches: ['early'],
  },
  {
    bug: 'a timer in flight is claimed again',
    file: 'src/engine/in-flight-set.ts',
    from: 'return this.#versions.get(id) === version',
    to: 'return this.#versions.get(id) === version && id % 50 !== 0',
    breaches: ['duplicate', 'uncounted'],
  },
  {
    bug: 'a takeover does not count what was in flight',
    file: 'src/stores/sqlite/claims/settle.ts',
    from: "{ kind: 'lost' }",
    to: "{ kind: 'released' }",
    breaches: ['uncounted'],
  },
  {
    bug: 'a takeover drops deliveries in flight',
    file: 'src/stores/sqlite/claims/settle.ts',
    from: "runOrQuarantine(write, row, (inner) => settleWithAllTimers(inner, timerOf(row), { kind: 'lost' }))",
    to: 'write.session.run(sql.removeTimer, id)',
    breaches: ['lost', 'unrecorded', 'damage'],
  },
  {
    bug: 'a cancel does not check in-flight batches',
    file: 'src/stores/sqlite/writes/edits.ts',
    from: 'const inFlight = readInFlight(write.session)',
    to: 'const inFlight = { has: () => false }',
    breaches: ['after_cancel', 'unrecorded', 'damage'],
  },
  {
    bug: 'a handler writes outside the transaction of its settle',
    file: 'src/stores/sqlite/store.ts',
    from: 'const settlement = await work(session.db)',
    to: "const settlement = await work(session.db)\n        session.db.exec('COMMIT')\n        await new Promise((resolve) => setTimeout(resolve, 20))\n        await beginImmediate(session.db, this.path, this.#busyMs, this.#system)",
    breaches: ['effect'],
  },
  {
    bug: 'an outcome is not recorded now and then',
    file: 'src/stores/apply.ts',
    from: 'for (const event of change.events ?? NONE)',
    to: 'for (const event of Number(alarm.seq) % 40 === 0 ? [] : (change.events ?? NONE))',
    breaches: ['unrecorded', 'lost'],
  },
  {
    bug: 'the counters do not include a cancel',
    file: 'src/stores/rows.ts',
    from: 'if (tally.to !== null) sums[tally.to] += 1',
    to: "if (tally.to !== null && tally.to !== 'cancelled') sums[tally.to] += 1",
    breaches: ['damage'],
  },
]

/** Bugs of what the campaign does not do, which a test must find. */
const BY_TEST: readonly Planted[] = [
  {
    bug: 'a process without the secret of its store serves the webhooks',
    edits: [
      {
        file: 'src/library/assemble.ts',
        from: 'if (refusal === null) return all',
        to: 'if (refusal !== undefined) return all',
      },
    ],
    by: { test: 'on SQLite.*gives the webhooks back', file: 'test/e2e/secret.test.ts' },
  },
  {
    bug: 'a snooze forgets the instant that the alarm was set for',
    edits: [
      {
        file: 'src/library/call-input.ts',
        from: 'const rule = { ...resolved.rule, asked: before.asked ?? before.at }',
        to: 'const rule = { ...resolved.rule }',
      },
    ],
    by: { test: 'leaves a snoozed one-shot where it is', file: 'test/declare/boot.test.ts' },
  },
  {
    bug: 'a late report is credited to the newest failure',
    edits: [
      {
        file: 'src/alarm/decisions/report.ts',
        from: '...(timedOut !== undefined && { restates: timedOut.occurrence }),',
        to: '',
      },
    ],
    by: { test: 'a late report is credited', file: 'src/stores/sqlite/conformance.test.ts' },
  },
]

const CAMPAIGN = ['--kills', '12', '--seed', '1']
/** Bugs in the engine or the SQLite store that the campaign, or a test, must find. */
export const SQLITE_PLANTED: readonly Planted[] = [
  ...SQLITE.map(({ bug, breaches, ...edit }): Planted => {
    return { bug, edits: [edit], by: { campaign: CAMPAIGN, breaches } }
  }),
  ...BY_TEST,
]
