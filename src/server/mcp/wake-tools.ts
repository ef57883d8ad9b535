import { z } from 'zod'
import { duration, operations } from '../../contracts/index.ts'
import { type RawJson, readJson } from '../../json/index.ts'
import { type AlarmWire, alarmText, short, wallTime } from './alarm-text.ts'
import { type Background, IN_TIME_MS, lateness } from './lateness.ts'
import {
  call,
  exactText,
  idOf,
  READS,
  read,
  type Tool,
  type ToolContext,
  tool,
  WHICH,
  WRITES,
} from './tool.ts'

/** Most clients give up on a tool call after a minute. */
const WAIT_DEFAULT = '25s'
/** An agent works longer than a program on what it has received. */
const HOLD_DEFAULT = '5m'
const MESSAGE_LENGTH_MAX = 4_000

const inboxItem = operations.inbox.answers[200].schema.shape.items.element.extend({
  lateness: z.string().meta({ description: 'Whether it was on time, and if not, why.' }),
})

/** Its payload is kept as text: digits beyond 2^53 are only there. */
type WakeWire = Omit<z.output<typeof inboxItem>, 'lateness' | 'payload'> & { readonly payload?: RawJson }
type StoryWire = z.output<(typeof operations)['why']['answers'][200]['schema']>

const inbox = tool({
  name: 'inbox',
  title: 'Wait for wakes',
  description: `Receive the wakes of your alarms with target "inbox", oldest first; if there is none, wait up to \`wait\` (${WAIT_DEFAULT}; use 50s at most, because many clients give up after 60s). Call it when an alarm of yours is due, when you are started, or in a loop.

Each wake has the time it was due, the time it was delivered, and the reason if it is late. Do what \`wake_message\` asks, then call \`ack\` with its \`occurrence_id\` and \`tries\`. A wake that is not acknowledged within \`hold\` (${HOLD_DEFAULT}) is handed out again: choose a longer hold for long work.`,
  operation: 'inbox',
  input: operations.inbox.query.extend({
    wait: duration(`How long to wait for a wake (${WAIT_DEFAULT}, at most 60s).`, WAIT_DEFAULT).optional(),
    hold: duration(
      `How long they are reserved for you (${HOLD_DEFAULT}, at most 1h).`,
      HOLD_DEFAULT,
    ).optional(),
  }),
  output: z.object({ items: z.array(inboxItem) }),
  hints: WRITES,
  run: async (query, work) => {
    const reply = await call(work, 'inbox', {
      query: { ...query, wait: query.wait ?? WAIT_DEFAULT, hold: query.hold ?? HOLD_DEFAULT },
    })
    const { items } = readJson(reply.json, { items: { payload: true } }) as { items: WakeWire[] }
    const wakes = await Promise.all(items.map((wake) => wakeText(wake, work)))
    const json = `{"items":[${wakes.map((wake) => wake.json).join(',')}]}`
    if (wakes.length === 0) return { json, text: await emptyText(work) }
    const head = `${wakes.length} wake${wakes.length === 1 ? '' : 's'}. Act on each, then \`ack\` it.`
    return { json, text: [head, ...wakes.map((wake) => wake.text)].join('\n\n') }
  },
})

async function wakeText(wake: WakeWire, work: ToolContext) {
  const alarm = await orNull<AlarmWire>(call(work, 'get', { params: { id: wake.alarm_id } }))
  const late = lateness(wake, await backgroundOf(wake, alarm, work), work.now())
  const zone = alarm?.timezone ?? 'UTC'
  const name = wake.label || wake.key
  const { conversation_id, wake_message, attempt, occurrence_id } = wake
  const lines = [
    `Wake ${occurrence_id}${name ? ` ${JSON.stringify(short(name))}` : ''}`,
    `Due ${wallTime(new Date(wake.scheduled_for), zone)}, delivered ${wallTime(new Date(wake.fired_at), zone)}: ${late}.`,
    ...(wake_message === '' ? [] : [`Message: ${cut(wake_message)}`]),
    ...(conversation_id === '' ? [] : [`Conversation: ${conversation_id}`]),
    ...(wake.payload === undefined || wake.payload.text === 'null' ? [] : ['Payload: in the JSON below.']),
    ...(attempt > 1 ? [`This is attempt ${attempt}.`] : []),
    ...(alarm?.ack === 'report'
      ? ['It awaits a report: ack with `complete` (the result) or `fail` (the reason).']
      : []),
    ...(alarm?.next_fire_at === undefined
      ? []
      : [`The alarm fires again ${wallTime(new Date(alarm.next_fire_at), zone)}.`]),
  ]
  return { json: exactText({ ...wake, lateness: late }), text: lines.join('\n') }
}

/** The story is read only if there is something to explain. */
async function backgroundOf(
  wake: WakeWire,
  alarm: AlarmWire | null,
  work: ToolContext,
): Promise<Background | null> {
  if (alarm === null) return null
  const isLate = wake.attempt > 1 || wake.drift_ms >= IN_TIME_MS
  const story = isLate ? await orNull<StoryWire>(call(work, 'why', { params: { id: wake.alarm_id } })) : null
  return { createdAt: alarm.created_at, lastError: alarm.last_error ?? null, story: story?.story ?? [] }
}

async function emptyText(work: ToolContext): Promise<string> {
  const reply = call(work, 'list', { query: { status: 'active', order: 'due', limit: 1 } })
  const next = (await orNull<{ items: AlarmWire[] }>(reply))?.items[0]
  if (next === undefined) return 'No wakes, and none of your alarms is pending.'
  return `No wakes yet. Your next alarm: ${await alarmText(next, work)}`
}

/** What a call answers; null if it fails. The text around a wake is optional, the wake is not. */
async function orNull<T>(reply: Promise<{ json: string }>): Promise<T | null> {
  try {
    return JSON.parse((await reply).json) as T
  } catch {
    return null
  }
}

function cut(text: string): string {
  return text.length > MESSAGE_LENGTH_MAX
    ? `${text.slice(0, MESSAGE_LENGTH_MAX)}… (all of it is in the JSON)`
    : text
}

const ack = tool({
  name: 'ack',
  title: 'Acknowledge a wake',
  description:
    'Remove a wake from your inbox, by the `occurrence_id` from `inbox`. Call it when you have done what the wake asked, so that it is not handed out again. If its alarm was set with `ack: "report"`, report the outcome: `complete` with a result, or `fail` with the reason (it is then retried, up to `max_failures`).',
  operation: 'ack',
  input: operations.ack.params.extend(operations.ack.body.shape).strict(),
  output: operations.ack.answers[200].schema,
  hints: WRITES,
  advice: {
    not_found:
      'Call `inbox`: it returns the wakes that are there, each with its `occurrence_id`. A wake that was acknowledged before is no longer there, and nothing is left to do; one that was handed out again is for its new reader to acknowledge.',
  },
  run: async ({ occurrence_id, ...body }, work) => {
    const { json } = await call(work, 'ack', { params: { occurrence_id }, body })
    const reported =
      body.complete !== undefined ? ' Reported complete.' : body.fail !== undefined ? ' Reported failed.' : ''
    return { json, text: `Acknowledged: ${occurrence_id} is removed from your inbox.${reported}` }
  },
})

const complete = tool({
  name: 'complete',
  title: 'Report an alarm done',
  description:
    'Report that the work of an alarm is done, with a `result` to keep. Only alarms set with `ack: "report"` await a report. For a wake from your inbox use `ack` with `complete`, which does both.',
  operation: 'complete',
  input: z.strictObject({ ...WHICH, ...operations.complete.body.shape }),
  hints: WRITES,
  run: async ({ id, key, ...body }, work) => {
    const reply = await call(work, 'complete', { params: { id: await idOf({ id, key }, work) }, body })
    return { json: reply.json, text: `Reported complete: ${await alarmText(read<AlarmWire>(reply), work)}` }
  },
})

const fail = tool({
  name: 'fail',
  title: 'Report an alarm failed',
  description:
    'Report that the work of an alarm failed, with the `reason`. It is retried after a while, up to `max_failures` times. Only alarms set with `ack: "report"` await a report. For a wake from your inbox use `ack` with `fail` instead, which does both.',
  operation: 'fail',
  input: z.strictObject({ ...WHICH, ...operations.fail.body.shape }),
  hints: WRITES,
  run: async ({ id, key, ...body }, work) => {
    const reply = await call(work, 'fail', { params: { id: await idOf({ id, key }, work) }, body })
    return { json: reply.json, text: `Reported failed: ${await alarmText(read<AlarmWire>(reply), work)}` }
  },
})

const why = tool({
  name: 'why',
  title: 'Explain an alarm',
  description:
    'The history of an alarm by its `id` or `key`: what was asked, everything that happened, and what happens next or why nothing does. Use it when something did not fire, was late, or failed.',
  operation: 'why',
  input: z.strictObject(WHICH),
  output: operations.why.answers[200].schema,
  hints: READS,
  run: async (args, work) => {
    const reply = await call(work, 'why', { params: { id: await idOf(args, work) } })
    const { id, status, timezone, asked, story, next } = read<StoryWire>(reply)
    const lines = story.map(({ at, text }) => `- ${wallTime(new Date(at), timezone)}: ${text}`)
    return {
      json: reply.json,
      text: [`${id} is ${status}. Asked: ${asked}.`, ...lines, `Next: ${next}.`].join('\n'),
    }
  },
})

/** The tools that receive wakes and report on them. */
export const wakeTools: readonly Tool[] = [complete, why, inbox, ack, fail]
