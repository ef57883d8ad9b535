import type { Bug } from './bug.ts'

/** Bugs in what is decided: about alarms, and about time. */
export const RULE_BUGS: readonly Bug[] = [
  {
    bug: 'a recurring alarm ends after a failed attempt',
    breaches: ['lost', 'refused'],
    edits: [
      {
        file: 'src/alarm/decisions/settle.ts',
        from: "const after = timer.kind === 'due' ? following(alarm, timer) : null",
        to: 'const after = null',
      },
    ],
  },
  {
    bug: 'a resume forgets a pending retry',
    breaches: ['lost', 'unrecorded'],
    seeds: 500,
    edits: [
      {
        file: 'src/alarm/decisions/edit.ts',
        from: 'moves.push({ id: timer.id, wakeAt: Math.max(context.now, timer.scheduledFor), waiting: null })\n',
        to: '',
      },
    ],
  },
  {
    bug: 'a delivery in flight fails for good when its process dies',
    breaches: ['lost'],
    edits: [
      {
        file: 'src/alarm/decisions/settle.ts',
        from: 'return alarm.cancelledAt === null ? lost(loaded, context) : dropped',
        to: "return alarm.cancelledAt === null ? closeOccurrence(loaded, { events: [skippedRecord(alarm, timer, 'rescheduled', context.now)] }, 'cancel', context) : dropped",
      },
    ],
  },
  {
    bug: 'a delivery in flight is not counted as an attempt when its process dies',
    breaches: ['uncounted'],
    edits: [
      {
        file: 'src/alarm/decisions/settle.ts',
        from: 'return alarm.cancelledAt === null ? lost(loaded, context)',
        to: 'return alarm.cancelledAt === null ? released(alarm, timer)',
      },
    ],
  },
  {
    bug: 'an occurrence queued behind another is never released',
    breaches: ['lost', 'late'],
    edits: [
      {
        file: 'src/alarm/decisions/recurrence.ts',
        from: 'return [{ id: timer.id, wakeAt: timer.scheduledFor }]',
        to: 'return []',
      },
    ],
  },
  {
    bug: 'the next occurrence is computed from when the result was written, not from when the occurrence was due',
    breaches: ['lost'],
    edits: [
      {
        file: 'src/alarm/decisions/settle.ts',
        from: 'alarm.cancelledAt === null ? following(alarm, timer) : null',
        to: 'alarm.cancelledAt === null ? following(alarm, { ...timer, scheduledFor: Math.max(timer.scheduledFor, context.now) }) : null',
      },
    ],
  },
  {
    bug: 'a report never times out',
    breaches: ['unrecorded'],
    edits: [
      {
        file: 'src/alarm/decisions/settle.ts',
        from: 'Math.min(context.now + alarm.completionTimeoutMs, INSTANT_MAX)',
        to: 'INSTANT_MAX',
      },
    ],
  },
  {
    bug: 'a report does not cancel its timeout',
    breaches: ['recorded_twice'],
    edits: [
      {
        file: 'src/alarm/decisions/report.ts',
        from: "return assertDecided(closeOccurrence(loaded, { outcome, events }, 'reported', context))",
        to: 'return { outcome, events }',
      },
    ],
  },
  {
    bug: 'a delivery after a failed report is recorded again',
    breaches: ['recorded_twice'],
    edits: [
      {
        file: 'src/alarm/decisions/settle.ts',
        from: 'const events = timer.delivered ? [] : [firedRecord(alarm, timer, firedAt, endedAt)]',
        to: 'const events = [firedRecord(alarm, timer, firedAt, endedAt)]',
      },
    ],
  },
  {
    bug: 'an occurrence that was replaced during a retry is recorded twice',
    breaches: ['recorded_twice'],
    seeds: 3000,
    edits: [
      { file: 'src/alarm/decisions/settle.ts', from: 'if (timer.delivered) return { remove }', to: '' },
    ],
  },
  {
    bug: 'a failed attempt is recorded as the end',
    breaches: ['recorded_twice'],
    edits: [
      {
        file: 'src/alarm/decisions/settle.ts',
        from: "const events = [occurrenceRecord('alarm.attempt_failed', timer, context.now, data)]",
        to: 'const events = [failedRecord(timer, error, attempt, context.now)]',
      },
    ],
  },
  {
    bug: 'the newest missed occurrence is recorded as skipped, too',
    breaches: ['recorded_twice'],
    seeds: 500,
    edits: [
      {
        file: 'src/alarm/decisions/triage.ts',
        from: 'const skipped = { last: secondToLast(alarm, timer, range), ',
        to: 'const skipped = { last: range.last, ',
      },
    ],
  },
  {
    bug: 'a cancel does not record a pending retry',
    breaches: ['unrecorded'],
    edits: [
      {
        file: 'src/alarm/decisions/edit.ts',
        from: "const events = droppedRecords(alarm, others, 'cancelled', context.now)",
        to: "const events = droppedRecords(alarm, [], 'cancelled', context.now)",
      },
    ],
  },
  {
    bug: 'a reschedule does not record a pending retry',
    breaches: ['unrecorded'],
    edits: [
      {
        file: 'src/alarm/decisions/edit.ts',
        from: "...droppedRecords(alarm, resting.filter(isDropped), 'rescheduled', context.now),",
        to: '',
      },
    ],
  },
  {
    bug: 'a cancel does not check in-flight batches',
    breaches: ['after_cancel', 'unrecorded'],
    edits: [
      {
        file: 'src/alarm/decisions/edit.ts',
        from: 'const inFlight = timers.filter((timer) => snapshot.inFlight.has(timer.id))\n  const others = timers.filter((timer) => !snapshot.inFlight.has(timer.id))',
        to: 'const inFlight = timers.slice(0, 0)\n  const others = timers',
      },
    ],
  },
  {
    bug: 'a cancelled alarm is retried',
    breaches: ['after_cancel'],
    edits: [{ file: 'src/alarm/decisions/settle.ts', from: ' && alarm.cancelledAt === null) {', to: ') {' }],
  },
  {
    bug: 'an alarm that was cancelled or rescheduled after it was claimed is still delivered if the answer to the claim was lost',
    breaches: ['after_cancel', 'off_calendar', 'phantom', 'duplicate', 'recorded_twice'],
    seeds: 1000,
    edits: [
      {
        file: 'src/alarm/decisions/triage.ts',
        from: "if (isAbandoned(loaded)) return settleOrLookUp(settle(loaded, { kind: 'released' }, context))",
        to: '',
      },
    ],
  },
  {
    bug: 'a pause during a delivery does not pause the next occurrence',
    breaches: ['while_paused'],
    edits: [
      {
        file: 'src/alarm/model/alarm.ts',
        from: 'const paused = alarm.pausedAt !== null',
        to: 'const paused = alarm.pausedAt === 0',
      },
      {
        file: 'src/alarm/decisions/triage.ts',
        from: 'return alarm.pausedAt !== null && timer.tick !== FORCED_TICK',
        to: 'return false',
      },
    ],
  },
  {
    bug: 'a pause does not pause retries',
    breaches: ['while_paused'],
    edits: [
      {
        file: 'src/alarm/decisions/settle.ts',
        from: "return alarm.pausedAt === null ? timer : { ...timer, wakeAt: null, waiting: 'paused' }",
        to: 'return timer',
      },
      {
        file: 'src/alarm/decisions/triage.ts',
        from: 'return alarm.pausedAt !== null && timer.tick !== FORCED_TICK',
        to: 'return false',
      },
    ],
  },
  {
    bug: 'a reschedule does not increase the generation of the alarm (the number that tells new occurrences from old)',
    breaches: ['duplicate', 'off_calendar', 'lost', 'recorded_twice'],
    edits: [
      {
        file: 'src/alarm/decisions/edit.ts',
        from: 'generation: alarm.generation + 1,\n    pausedAt',
        to: 'generation: alarm.generation,\n    pausedAt',
      },
    ],
  },
  {
    bug: 'the payload is serialized again',
    breaches: ['verbatim'],
    edits: [
      {
        file: 'src/json/json.ts',
        from: 'return payload.text',
        to: 'return JSON.stringify(JSON.parse(payload.text))',
      },
    ],
  },
  {
    bug: 'the message is trimmed',
    breaches: ['verbatim'],
    edits: [
      {
        file: 'src/alarm/fields/check.ts',
        from: "assert(name, value, limits[field.limit ?? 'nameBytesMax'])",
        to: "assert(name, value, limits[field.limit ?? 'nameBytesMax'])[name === 'message' ? 'trim' : 'toString']()",
      },
    ],
  },
  {
    bug: 'the message is normalised',
    breaches: ['verbatim'],
    edits: [
      {
        file: 'src/alarm/fields/check.ts',
        from: "assert(name, value, limits[field.limit ?? 'nameBytesMax'])",
        to: "assert(name, value, limits[field.limit ?? 'nameBytesMax'])[name === 'message' ? 'normalize' : 'toString']()",
      },
    ],
  },
  {
    bug: 'a rule has one occurrence more than its count',
    breaches: ['off_calendar', 'phantom'],
    edits: [
      {
        file: 'src/alarm/decisions/recurrence.ts',
        from: 'timer.tick >= rule.count',
        to: 'timer.tick > rule.count',
      },
    ],
  },
  {
    bug: 'an interval with a start time has no occurrence at its start',
    breaches: ['off_calendar', 'phantom', 'lost'],
    edits: [
      {
        file: 'src/time/rules/schedule.ts',
        from: 'rule.start === undefined ? rule.anchor + everyMs : rule.anchor',
        to: 'rule.anchor + everyMs',
      },
    ],
  },
  {
    bug: 'a wall time that a clock change skips never fires',
    breaches: ['lost'],
    seeds: 500,
    edits: [
      {
        file: 'src/time/zones/wall-times.ts',
        from: "policy.gap === 'shift' ? nextInGap(nextWallTime, period, from) : null",
        to: "policy.gap === 'shift' && period.end < 0 ? nextInGap(nextWallTime, period, from) : null",
      },
    ],
  },
  {
    bug: 'a wall time that a clock change repeats fires twice',
    breaches: ['off_calendar'],
    seeds: 500,
    edits: [
      {
        file: 'src/time/zones/wall-times.ts',
        from: "policy.overlap === 'first' && offset < offsetBefore",
        to: "policy.overlap === 'first' && offset > offsetBefore",
      },
    ],
  },
  {
    bug: 'the backoff is not capped',
    breaches: ['late'],
    edits: [
      {
        file: 'src/time/durations/backoff.ts',
        from: 'Math.min(options.baseMs * 2 ** doublings, options.capMs)',
        to: 'options.baseMs * 2 ** doublings',
      },
    ],
  },
  {
    bug: 'an alarm that waits for a handler is never released',
    breaches: ['late', 'lost'],
    edits: [
      {
        file: 'src/alarm/decisions/triage.ts',
        from: "wait(timer, context.now + waitMs, 'handler')",
        to: "wait(timer, waitMs < 0 ? 0 : null, 'handler')",
      },
    ],
  },
  {
    bug: 'an idempotency key is not kept',
    breaches: ['phantom'],
    edits: [
      {
        file: 'src/alarm/model/alarm.ts',
        from: '  return record\n',
        to: '  record.idempotencyKey = null\n  return record\n',
      },
    ],
  },
]
