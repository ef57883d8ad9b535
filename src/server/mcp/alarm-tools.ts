import { z } from 'zod'
import { editing, operations } from '../../contracts/index.ts'
import {
  type AlarmWire,
  alarmLine,
  alarmText,
  nowText,
  type PreviewWire,
  statusText,
  wallTime,
} from './alarm-text.ts'
import { call, idOf, READS, read, SEEN, type Tool, tool, WHICH, WRITES, withSeen } from './tool.ts'

/** Replaced in the listing where the default zone is another one. */
export const ZONE_TEXT = 'is read in UTC'

const set = tool({
  name: 'set',
  title: 'Set an alarm',
  description: `Set an alarm: at its time you (or another target) are woken with \`wake_message\`, \`conversation_id\` and \`payload\`, even if every process crashed in between. Use it whenever something has to happen later: a reminder, a follow-up, a check that repeats, waiting for something without staying awake.

Say when in exactly one field:
- \`when\`: plain language: "in 20 minutes", "tomorrow at 9am", "next friday at 3pm", "every weekday at 9:30", "every 2 hours"
- \`delay\`: "90s", "10m", "1h30m", "3d"
- \`fire_at\`: "2030-01-01T09:00:00+01:00"
- \`every\`: "5m"; \`cron_expr\`: "0 9 * * 1-5"; \`rrule\`: "FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0"
Give \`timezone\` ("Europe/Rome") for everything people say by the clock: without it "9am" ${ZONE_TEXT}. If unsure how a time is read, call \`preview\` first.

Write \`wake_message\` as a note to yourself: the reader may remember nothing of this conversation. \`key\` names the alarm ("standup"): setting the same key again moves it instead of adding a second one. \`idempotency_key\` makes repeating this call harmless.

\`target\` is where the wake goes: \`{"webhook": "https://…"}\` is called; "inbox" keeps it for the tool \`inbox\`. Without a target it goes to the owner's default target, or to your inbox if there is none. With \`ack: "report"\` it counts as done only when \`complete\` or \`fail\` was called within \`completion_timeout\`.`,
  operation: 'set',
  input: operations.set.body,
  hints: WRITES,
  run: async (args, work) => {
    const toInbox = args.target === undefined && !(await work.context.caller.alarms.hasDefaultTarget())
    const reply = await call(work, 'set', { body: toInbox ? { ...args, target: 'inbox' } : args })
    const alarm = read<AlarmWire & { deduped?: true; unchanged?: true }>(reply)
    const head =
      alarm.deduped || alarm.unchanged
        ? 'Already set, nothing changed'
        : reply.status === 201
          ? 'Set'
          : 'Set again'
    const where = toInbox
      ? '\nYou named no target and have no default target, so it goes to your inbox: call `inbox` around that time to receive it.'
      : ''
    return { json: reply.json, text: `${head}: ${await alarmText(alarm, work)}${where}` }
  },
})

const list = tool({
  name: 'list',
  title: 'List alarms',
  description:
    'Your alarms, newest first; `order: "due"` lists only alarms to come, the next first (no paused ones); `status: "pending"` lists those still to fire. Use it to find an id or key, or to see what is already set before you set another. `cursor` gets more pages.',
  operation: 'list',
  input: operations.list.query.omit({ owner: true, tenant: true }).strict(),
  hints: READS,
  run: async (query, work) => {
    const reply = await call(work, 'list', { query })
    const { items, next_cursor } = read<{ items: AlarmWire[]; next_cursor: string | null }>(reply)
    const lines: string[] = []
    for (const alarm of items) lines.push(await alarmLine(alarm, work))
    const head =
      items.length === 0 ? 'No alarms match.' : `${items.length} alarm${items.length === 1 ? '' : 's'}:`
    const more =
      next_cursor === null
        ? []
        : [`There are more: call list again with cursor ${JSON.stringify(next_cursor)}.`]
    return { json: reply.json, text: [nowText(work.now(), work.zone), head, ...lines, ...more].join('\n') }
  },
})

const get = tool({
  name: 'get',
  title: 'Read one alarm',
  description:
    'Everything about one alarm, by its `id` or its `key`: when it fires next, its rule, its payload, its result.',
  operation: 'get',
  input: z.strictObject(WHICH),
  hints: READS,
  run: async (args, work) => {
    const reply = await call(work, 'get', { params: { id: await idOf(args, work) } })
    return { json: reply.json, text: await alarmText(read<AlarmWire>(reply), work) }
  },
})

const OUTCOMES: Readonly<Record<string, string>> = {
  cancelled: 'Cancelled: it will not fire',
  firing: 'Too late for the delivery in progress; nothing follows it',
  ended: 'Nothing to cancel: it had already ended',
}

const cancel = tool({
  name: 'cancel',
  title: 'Cancel an alarm',
  description:
    'Cancel an alarm by its `id` or `key`. The result is `cancelled` (it will not fire), `firing` (a delivery is in progress, nothing follows) or `ended` (it had already ended; no error).',
  operation: 'cancel',
  input: z.strictObject({ ...WHICH, ...SEEN }),
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  run: async (args, work) => {
    const reply = await call(withSeen(work, args), 'cancel', { params: { id: await idOf(args, work) } })
    const { outcome, alarm } = read<{ outcome: string; alarm: AlarmWire }>(reply)
    const now = outcome === 'ended' ? ` (${statusText(alarm, work.now())})` : ''
    return { json: reply.json, text: `${OUTCOMES[outcome] ?? outcome}${now}: ${alarm.id}.` }
  },
})

const reschedule = tool({
  name: 'reschedule',
  title: 'Move or edit an alarm',
  description:
    'Move an alarm to another time, or change its fields (message, payload, target, …). Fields you leave out keep their values. Write the new time as in `set` ("in 1 hour", `delay`, `fire_at`, `cron_expr`, …): the alarm then starts over from there, with the same id. Use it instead of cancelling and setting again.',
  operation: 'edit',
  input: editing(z.strictObject({ ...WHICH, ...SEEN, ...operations.edit.body.shape })),
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  run: async ({ id, key, updated_at, ...body }, work) => {
    const params = { id: await idOf({ id, key }, work) }
    const reply = await call(withSeen(work, { updated_at }), 'edit', { params, body })
    return { json: reply.json, text: `Changed: ${await alarmText(read<AlarmWire>(reply), work)}` }
  },
})

const preview = tool({
  name: 'preview',
  title: 'Preview a time',
  description:
    'What a time would mean, without setting anything: the zone, the rule in words, and the next instants. Use it to check a phrase, a cron expression or an RRULE, around clock changes and holidays, before `set` or `reschedule`. It has the same time fields as `set`.',
  operation: 'preview',
  input: operations.preview.body,
  output: operations.preview.answers[200].schema,
  hints: READS,
  run: async (body, work) => {
    const reply = await call(work, 'preview', { body })
    const { timezone, description, instants } = read<PreviewWire>(reply)
    const lines = instants.map(
      ({ instant, note }) =>
        `- ${wallTime(new Date(instant), timezone)}${note === undefined ? '' : ` (${note})`}`,
    )
    const head = `Read as: ${description}. ${nowText(work.now(), timezone)}`
    return {
      json: reply.json,
      text: [head, lines.length === 0 ? 'It never fires.' : 'Next:', ...lines].join('\n'),
    }
  },
})

/** The tools about alarms and times. */
export const alarmTools: readonly Tool[] = [set, list, get, cancel, reschedule, preview]
