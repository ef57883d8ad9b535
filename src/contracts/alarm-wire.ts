import { z } from 'zod'
import { instant } from './fields.ts'

/** The words of an alarm's status. */
export const status = z
  .enum(['active', 'paused', 'fired', 'completed', 'failed', 'timed_out', 'cancelled'])
  .meta({ id: 'Status' })

const optional = (description: string) => z.string().optional().meta({ description })

/** An alarm on the wire: Chronos's View field for field, with its omissions, then what Wakeful adds. */
export const alarmWire = z
  .object({
    id: z.string(),
    label: z.string(),
    kind: z.enum(['once', 'cron', 'rrule', 'every']),
    cron_expr: optional('The cron expression, as it was given.'),
    timezone: z.string().optional(),
    next_fire_at: instant('When it fires next, or tries again; only while it is active.').optional(),
    conversation_id: optional('The conversation to resume.'),
    wake_message: z.string(),
    payload: z
      .unknown()
      .optional()
      .meta({ description: 'As it was given, byte for byte; absent where none was.' }),
    status,
    idempotency_key: optional('The idempotency key it was set with.'),
    max_failures: z.int(),
    failure_count: z.int(),
    last_error: optional('The error of the newest failed try.'),
    created_at: instant('When it was set.'),
    last_fired_at: instant('When it was last delivered.').optional(),
    rrule: optional('The RRULE, as it was given.'),
    every: optional('The interval, as it was given.'),
    when: z.record(z.string(), z.unknown()).optional().meta({
      description: 'What the rule says beside its text: start, end, count, jitter, misfire, dst, exclude.',
    }),
    fire_at: instant('The instant that was asked for, of a once alarm.').optional(),
    key: optional('Its key.'),
    subject: optional('What it is for.'),
    correlation_id: z.string(),
    target: z
      .string()
      .meta({ description: 'Where it goes: the URL, the handler’s name, `inbox`, `event`, `default`.' }),
    pool: optional(
      'Who runs it, where that is not as its target says: `app` for a handler, `wakeful` for others.',
    ),
    ack: z.enum(['delivery', 'report']),
    overlap: z.enum(['queue', 'allow']).optional().meta({
      description:
        'What becomes of an occurrence while an earlier one awaits its report, where it is not `skip`.',
    }),
    priority: z.int().optional().meta({ description: 'Its priority, where it is not 0.' }),
    result: optional('What was reported, or `FAILED: …`, `RETRY: …`, `timeout_unknown`.'),
    started_at: instant('Its first fire.').optional(),
    completed_at: instant('When it was reported complete.').optional(),
    duration_ms: z.int().optional(),
    attempts: z.int().optional(),
    created_by: optional('Who set it.'),
    created_via: z.string().meta({ description: 'The door it came in by: library, cli, rest, ws, mcp.' }),
    updated_at: instant('Its version: edits may name it in `If-Match`.'),
    notes: z.array(z.string()).optional().meta({ description: 'What was accepted and may surprise.' }),
  })
  .meta({ id: 'Alarm' })

/** An alarm that was set. */
export const setWire = alarmWire
  .extend({
    deduped: z
      .literal(true)
      .optional()
      .meta({ description: 'Its idempotency key was known: this is the first alarm, and nothing changed.' }),
  })
  .meta({ id: 'SetAlarm' })

/** A page of alarms. */
const alarmPage = z
  .object({ items: z.array(alarmWire), next_cursor: z.string().nullable() })
  .meta({ id: 'AlarmPage' })

/** What a call that lists alarms answers with. */
export const pageAnswer = {
  200: {
    description:
      'A page of them. It ends at the limit, or earlier with about 4 MiB of content, or when much was looked at for few that fit: only a `next_cursor` of null says that there are no more. A page shows one moment (on SQLite a large one is read in pieces, each of one moment); an alarm that is moved in time between two pages by due time may come twice or not at all.',
    schema: alarmPage,
  },
}
