import { type AlarmView, wireJson } from '../../alarm/index.ts'
import {
  editOf,
  movesInstants,
  type OperationName,
  optionsOf,
  requiredWhen,
  setOf,
  wireRule,
  wireText,
  withFields,
} from '../../contracts/index.ts'
import { display, WakefulError } from '../../error.ts'
import { defined, ofItem, type SetView } from '../../library/index.ts'
import type { QuotaGuard } from '../limits/index.ts'
import { actOnMany, listOptions, pageOf } from './bulk.ts'
import { type CallContext, type CallsOf, ok, type Reply } from './call.ts'

/** The calls about alarms. */
export function alarmCalls(quotas: QuotaGuard) {
  return {
    set: async ({ body }, context) => {
      const { when, ...options } = setOf(body)
      return setReply(
        await quotas.within(context.caller, [{ does: 'set', options }], (alarms) =>
          alarms.set(when, { ...options, ...origin(context) }),
        ),
      )
    },

    setMany: async ({ body }, context) => {
      const items = body.items.map((item, at) => ({ ...ofItem(at, () => setOf(item)), ...origin(context) }))
      const wanted = items.map(({ when: _, ...options }, item) => ({ does: 'set', options, item }) as const)
      const views = await quotas.within(context.caller, wanted, (alarms) => alarms.setMany(items))
      return { status: 201, json: `{"items":[${views.map(setJson).join(',')}]}` }
    },

    setByKey: async ({ params, body }, context) => {
      const options = { ...optionsOf(body), key: params.key, ...origin(context) }
      const when = requiredWhen(body)
      return setReply(
        await quotas.within(context.caller, [{ does: 'set', options }], (alarms) =>
          alarms.set(when, options),
        ),
      )
    },

    getByKey: async ({ params }, { caller }) => {
      const alarm = await caller.alarms.getByKey(params.key)
      if (alarm === null)
        throw new WakefulError('alarm.not_found', { name: `with the key ${JSON.stringify(params.key)}` })
      return alarmReply(alarm)
    },

    list: async ({ query }, { caller }) => {
      const { order, limit, cursor, ...filter } = query
      return pageOf(
        await caller.alarms.list({ ...listOptions(filter), ...defined({ order, limit, cursor }) }),
      )
    },

    get: async ({ params }, { caller }) => {
      const alarm = await caller.alarms.get(params.id)
      if (alarm === null) throw new WakefulError('alarm.not_found', { name: JSON.stringify(params.id) })
      return alarmReply(alarm)
    },

    edit: async ({ params, body }, context) => {
      const fields = editOf(body)
      const { when: _, ...options } = fields
      const wanted = { does: 'edit', id: params.id, moves: movesInstants(body), options } as const
      return alarmReply(
        await quotas.within(context.caller, [wanted], (alarms) =>
          alarms.edit(params.id, fields, seen(context)),
        ),
      )
    },

    cancel: async ({ params }, context) => {
      const { outcome, alarm } = await context.caller.alarms.cancel(params.id, seen(context))
      return ok(`{"outcome":"${outcome}","alarm":${wireJson(alarm)}}`, versionOf(alarm))
    },

    pause: async ({ params }, context) =>
      alarmReply(await context.caller.alarms.pause(params.id, seen(context))),
    resume: async ({ params }, context) =>
      alarmReply(await context.caller.alarms.resume(params.id, seen(context))),
    skip: async ({ params }, context) =>
      alarmReply(await context.caller.alarms.skipNext(params.id, seen(context))),
    fire: async ({ params: { id } }, context) =>
      alarmReply(
        await quotas.within(context.caller, [{ does: 'fire', id }], () =>
          context.caller.alarms.fireNow(id, seen(context)),
        ),
      ),
    retry: async ({ params: { id } }, context) =>
      alarmReply(
        await quotas.within(context.caller, [{ does: 'retry', id }], () =>
          context.caller.alarms.retry(id, seen(context)),
        ),
      ),

    complete: async ({ params, body }, { caller }) => {
      const { result, occurrence_id } = body
      return alarmReply(await caller.alarms.complete(params.id, result, occurrence(occurrence_id)))
    },

    fail: async ({ params, body }, { caller }) => {
      const { reason, occurrence_id } = body
      return alarmReply(await caller.alarms.fail(params.id, reason, occurrence(occurrence_id)))
    },

    act: async ({ body }, { caller, signal }) =>
      ok(JSON.stringify(await actOnMany(caller, quotas, body, signal))),

    removeSubject: async ({ params }, { caller }) =>
      ok(JSON.stringify(await caller.alarms.removeSubject(params.subject))),

    reset: async (_input, { caller }) => ok(JSON.stringify(await caller.alarms.reset())),

    preview: ({ body }, { caller }) => {
      const { from, instants, ...when } = body
      const preview = caller.alarms.preview(requiredWhen(when), {
        ...(from !== undefined && { from: instantOf('from', from) }),
        ...(instants !== undefined && { count: instants }),
      })
      return ok(wireText({ ...preview, rule: wireRule(preview.rule) }))
    },
  } satisfies Partial<CallsOf<OperationName>>
}

function setReply(alarm: SetView): Reply {
  const isNew = alarm.deduped === undefined && alarm.replaced === undefined
  return { status: isNew ? 201 : 200, json: setJson(alarm), version: versionOf(alarm) }
}

function setJson(alarm: SetView): string {
  const json = wireJson(alarm)
  return alarm.deduped === true ? withFields(json, { deduped: true }) : json
}

function alarmReply(alarm: AlarmView): Reply {
  return ok(wireJson(alarm), versionOf(alarm))
}

function versionOf({ updatedAt }: AlarmView): string {
  return updatedAt.toISOString()
}

function origin({ caller, traceparent }: CallContext) {
  return { createdVia: caller.via, ...(traceparent !== undefined && { traceparent }) }
}

function seen({ seen: updatedAt }: CallContext): { updatedAt?: string } {
  return updatedAt === undefined ? {} : { updatedAt }
}

function occurrence(occurrenceId: string | undefined): { occurrenceId?: string } {
  return occurrenceId === undefined ? {} : { occurrenceId }
}

function instantOf(field: string, text: unknown): Date {
  if (typeof text === 'number')
    throw new WakefulError('instant.bare_number', { value: String(text) }, { field })
  const date = new Date(String(text))
  if (/^\d{4}-/.test(String(text)) && Number.isFinite(date.getTime())) return date
  throw new WakefulError('instant.malformed', { text: display(text) }, { field })
}
