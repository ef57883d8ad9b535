import { type AlarmView, wireJson } from '../../alarm/index.ts'
import {
  editOf,
  movedTo,
  type OperationName,
  optionsOf,
  requiredWhen,
  setOf,
  wireRule,
  wireText,
  withFields,
} from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import { ofItem, type SetView } from '../../library/index.ts'
import type { QuotaGuard } from '../tenants/index.ts'
import { actOnMany, listOptions, pageJson } from './bulk.ts'
import { type CallContext, type CallsOf, ok, type Reply } from './call.ts'

/** The calls about alarms. */
export function alarmCalls(quotas: QuotaGuard) {
  return {
    set: async ({ body }, around) => {
      const { when, ...options } = setOf(body)
      return setReply(
        await quotas.within(around.caller, [{ does: 'set', when, options }], () =>
          around.caller.alarms.set(when, { ...options, ...origin(around) }),
        ),
      )
    },

    setMany: async ({ body }, around) => {
      const items = body.items.map((item, at) => ({ ...ofItem(at, () => setOf(item)), ...origin(around) }))
      const wanted = items.map(
        ({ when, ...options }, item) => ({ does: 'set', when, options, item }) as const,
      )
      const alarms = await quotas.within(around.caller, wanted, () => around.caller.alarms.setMany(items))
      return { status: 201, json: `{"items":[${alarms.map(setJson).join(',')}]}` }
    },

    setByKey: async ({ params, body }, around) => {
      const options = { ...optionsOf(body), key: params.key, ...origin(around) }
      const when = requiredWhen(body)
      return setReply(
        await quotas.within(around.caller, [{ does: 'set', when, options }], () =>
          around.caller.alarms.set(when, options),
        ),
      )
    },

    getByKey: async ({ params }, { caller }) => {
      const alarm = await caller.alarms.getByKey(params.key)
      if (alarm === null)
        throw new WakefulError('not_found', `there is no alarm with the key ${JSON.stringify(params.key)}`)
      return alarmReply(alarm)
    },

    list: async ({ query }, { caller }) => {
      const { order, limit, cursor, ...filter } = query
      const page = await caller.alarms.list({
        ...listOptions(filter),
        ...(order !== undefined && { order }),
        ...(limit !== undefined && { limit }),
        ...(cursor !== undefined && { cursor }),
      })
      return ok(pageJson(page))
    },

    get: async ({ params }, { caller }) => {
      const alarm = await caller.alarms.get(params.id)
      if (alarm === null)
        throw new WakefulError('not_found', `there is no alarm ${JSON.stringify(params.id)}`)
      return alarmReply(alarm)
    },

    edit: async ({ params, body }, around) => {
      const fields = editOf(body)
      if (Object.keys(fields).length === 0)
        throw new WakefulError('invalid_request', 'nothing to edit: name at least one field')
      const { when: _, ...options } = fields
      const wanted = { does: 'edit', id: params.id, when: movedTo(body), options } as const
      return alarmReply(
        await quotas.within(around.caller, [wanted], () =>
          around.caller.alarms.edit(params.id, fields, seen(around)),
        ),
      )
    },

    cancel: async ({ params }, around) => {
      const { outcome, alarm } = await around.caller.alarms.cancel(params.id, seen(around))
      return ok(`{"outcome":"${outcome}","alarm":${wireJson(alarm)}}`, versionOf(alarm))
    },

    pause: async ({ params }, around) =>
      alarmReply(await around.caller.alarms.pause(params.id, seen(around))),
    resume: async ({ params }, around) =>
      alarmReply(await around.caller.alarms.resume(params.id, seen(around))),
    skip: async ({ params }, around) =>
      alarmReply(await around.caller.alarms.skipNext(params.id, seen(around))),
    fire: async ({ params: { id } }, around) =>
      alarmReply(
        await quotas.within(around.caller, [{ does: 'fire', id }], () =>
          around.caller.alarms.fireNow(id, seen(around)),
        ),
      ),
    retry: async ({ params: { id } }, around) =>
      alarmReply(
        await quotas.within(around.caller, [{ does: 'retry', id }], () =>
          around.caller.alarms.retry(id, seen(around)),
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

function instantOf(field: string, text: string): Date {
  const date = new Date(text)
  if (/^\d{4}-/.test(text) && Number.isFinite(date.getTime())) return date
  throw new WakefulError(
    'invalid_time',
    `${field} ${JSON.stringify(text)} must be an instant: 2030-01-01T09:00:00Z`,
  )
}
