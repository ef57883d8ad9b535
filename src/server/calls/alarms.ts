import { createHash } from 'node:crypto'
import { type AlarmView, wireJson } from '../../alarm/index.ts'
import {
  editOf,
  movesInstants,
  type Operation,
  type OperationName,
  type operations,
  requiredWhen,
  SINGLE_KINDS,
  setOf,
  wireRule,
  wireText,
  withFields,
} from '../../contracts/index.ts'
import { WakefulError } from '../../error.ts'
import {
  notFound,
  ofItem,
  type SeenOptions,
  type SetManyItem,
  type SetView,
  withoutUndefined,
} from '../../library/index.ts'
import type { QuotaGuard } from '../limits/index.ts'
import { actOnMany, actOnOne, listOptions, pageOf, type SingleAction } from './bulk.ts'
import {
  alarmNamed,
  type Call,
  type CallContext,
  type CallsOf,
  type OneAlarmWork,
  ok,
  type Reply,
} from './call.ts'
import { readerById, readerOf } from './wide-reads.ts'

type Operations = typeof operations

/** The bodies of calls that take a time, and of their items. */
interface TimedBody {
  readonly when?: unknown
  readonly items?: readonly TimedBody[]
}

/** The calls about alarms. */
export function alarmCalls(quotas: QuotaGuard) {
  const action =
    (name: SingleAction): OneAlarmWork<SingleAction> =>
    async ({ params }, context) =>
      alarmReply(await actOnOne(context.caller, quotas, name, alarmNamed(params), seen(context)))
  const set = async (context: CallContext, { when, ...options }: SetManyItem) => {
    const alarm = await quotas.within(context.caller, [{ does: 'set', options }], (alarms) =>
      alarms.set(when, { ...options, ...origin(context) }),
    )
    const isNew = !alarm.deduped && !alarm.replaced && !alarm.unchanged
    return { ...alarmReply(alarm), status: isNew ? 201 : 200, json: setJson(alarm) }
  }
  return {
    set: timed<Operations['set']>(({ body }, context) => set(context, setOf(body))),

    setMany: timed<Operations['setMany']>(async ({ body }, context) => {
      const items = body.items.map((item, at) => ({ ...ofItem(at, () => setOf(item)), ...origin(context) }))
      const wanted = items.map(({ when: _, ...options }, item) => ({ does: 'set', options, item }) as const)
      const views = await quotas.within(context.caller, wanted, (alarms) => alarms.setMany(items))
      return { status: 201, json: `{"items":[${views.map(setJson).join(',')}]}` }
    }),

    setByKey: timed<Operations['setByKey']>(({ params, body }, context) =>
      set(context, { ...setOf(body), key: params.key }),
    ),

    list: async ({ query }, { caller }) => {
      const { order, limit, cursor, owner, tenant, ...filter } = query
      const { alarms, json } = readerOf(caller, { owner, tenant })
      const options = { ...listOptions(filter), ...withoutUndefined({ order, limit, cursor }) }
      return pageOf(await alarms.list(options), json)
    },

    get: async ({ params, query }, { caller }) => {
      const ref = alarmNamed(params)
      const { alarms, json } = readerById(caller, ref, query)
      const alarm = await alarms.get(ref)
      if (alarm === null) throw notFound(ref)
      return { ...alarmReply(alarm), json: json(alarm) }
    },

    edit: timed<Operations['edit' | 'editByKey']>(async ({ params, body }, context) => {
      const ref = alarmNamed(params)
      const fields = editOf(body)
      const { when: _, ...options } = fields
      const wanted = { does: 'edit', ref, moves: movesInstants(body), options } as const
      return alarmReply(
        await quotas.within(context.caller, [wanted], (alarms) => alarms.edit(ref, fields, seen(context))),
      )
    }),

    cancel: async ({ params }, context) => {
      const { outcome, alarm } = await context.caller.alarms.cancel(alarmNamed(params), seen(context))
      const { json, version } = alarmReply(alarm)
      return { status: 200, json: `{"outcome":"${outcome}","alarm":${json}}`, version }
    },

    pause: action('pause'),
    resume: action('resume'),
    skip: action('skip'),
    snooze: timed<Operations['snooze' | 'snoozeByKey']>(async ({ params, body }, context) => {
      const ref = alarmNamed(params)
      const wanted = { does: 'edit', ref, moves: true, options: {} } as const
      return alarmReply(
        await quotas.within(context.caller, [wanted], (alarms) =>
          alarms.snooze(ref, requiredWhen(body, SINGLE_KINDS), seen(context)),
        ),
      )
    }),

    fire: action('fire'),
    retry: action('retry'),

    complete: async ({ params, body }, { caller }) => {
      const { result, occurrence_id: occurrenceId } = body
      const reported = await caller.alarms.complete(
        alarmNamed(params),
        result,
        withoutUndefined({ occurrenceId }),
      )
      return alarmReply(reported)
    },

    fail: async ({ params, body }, { caller }) => {
      const { reason, occurrence_id: occurrenceId } = body
      const reported = await caller.alarms.fail(
        alarmNamed(params),
        reason,
        withoutUndefined({ occurrenceId }),
      )
      return alarmReply(reported)
    },

    act: async ({ body }, { caller, signal }) =>
      ok(JSON.stringify(await actOnMany(caller, quotas, body, signal))),

    removeSubject: async ({ params }, { caller }) =>
      ok(JSON.stringify(await caller.alarms.removeSubject(params.subject))),

    reset: async (_input, { caller }) => ok(JSON.stringify(await caller.alarms.reset())),

    preview: timed<Operations['preview']>(({ body }, { caller }) => {
      const { from, instants, ...when } = body
      const preview = caller.alarms.preview(requiredWhen(when), withoutUndefined({ from, count: instants }))
      return ok(wireText({ ...preview, rule: wireRule(preview.rule) }))
    }),
  } satisfies Partial<CallsOf<OperationName>>
}

/**
 * A call that takes a time. A time in plain language is `when` in a body and `at` in the library, as `fire_at` is: an error
 * about it names the field that the caller wrote.
 */
function timed<O extends Operation>(call: Call<O>): Call<O> {
  return async (input, context) => {
    try {
      return await call(input, context)
    } catch (thrown) {
      const path =
        thrown instanceof WakefulError ? /^(?:items\[(\d+)\]\.)?at$/.exec(thrown.field ?? '') : null
      if (path === null) throw thrown
      const body: TimedBody = input.body
      const item = path[1] === undefined ? body : body.items?.[Number(path[1])]
      const error = thrown as WakefulError
      throw item?.when === undefined ? error : error.with({ field: error.field!.replace(/at$/, 'when') })
    }
  }
}

function setJson(alarm: SetView): string {
  const { deduped, unchanged } = alarm
  return withFields(wireJson(alarm), withoutUndefined({ deduped, unchanged }))
}

/** Its version is that of what was asked, which `If-Match` compares, and a digest, which changes also when it fires or fails. */
function alarmReply(alarm: AlarmView): Reply & { readonly version: string } {
  const json = wireJson(alarm)
  const digest = createHash('sha256').update(json).digest('base64url').slice(0, 16)
  return { status: 200, json, version: `${alarm.updatedAt.toISOString()}.${digest}` }
}

function origin({ caller, traceparent }: CallContext) {
  return { createdVia: caller.via, ...(traceparent !== undefined && { traceparent }) }
}

function seen({ seen: updatedAt }: CallContext): SeenOptions {
  return withoutUndefined({ updatedAt })
}
