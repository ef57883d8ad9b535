import type { AlarmView, CancelOutcome } from '../alarm/index.ts'
import { inField, typeName, WakefulError } from '../errors/core.ts'
import type {
  AlarmRef,
  BulkFilter,
  BulkOptions,
  BulkResult,
  SeenOptions,
  SetManyItem,
  SetView,
} from '../library/index.ts'
import { type AlarmWire, eventView } from './alarm-view.ts'
import type { RemoteAlarms } from './api.ts'
import { assertObject, bodyText, editFields, setFields, sinceText, wireNames } from './body.ts'
import { orNull } from './error.ts'
import type { CallInput, HttpTransport } from './transport.ts'

/** Concurrent calls of a bulk operation. */
const CONCURRENCY = 8

/** The calls that change one alarm and return it. */
type EditCall = 'edit' | 'pause' | 'resume' | 'skip' | 'fire' | 'retry' | 'complete' | 'fail'

/** The calls that set alarms, change them, or append events. */
export function alarmWrites(transport: HttpTransport, view: (wire: AlarmWire) => AlarmView) {
  const zone = transport.options.timezone

  const editOne = async (
    name: EditCall,
    alarm: AlarmRef,
    input: Pick<CallInput<EditCall>, 'body' | 'seen'>,
  ) => view(await transport.jsonOnAlarm(name, alarm, input))

  const action =
    (name: EditCall) =>
    async (alarm: AlarmRef, options: SeenOptions = {}) =>
      editOne(name, alarm, seenVersion(options))

  const setView = (wire: AlarmWire, existed: boolean): SetView => {
    if (wire.deduped === true) return { ...view(wire), deduped: true }
    if (wire.unchanged === true) return { ...view(wire), unchanged: true }
    return existed ? { ...view(wire), replaced: true } : view(wire)
  }

  const edit: RemoteAlarms['edit'] = async (ref, fields, options = {}) =>
    editOne('edit', ref, { body: bodyText(editFields(fields)), ...seenVersion(options) })

  const cancel: RemoteAlarms['cancel'] = async (ref, options = {}) => {
    refuseTx(options.tx)
    const { outcome, alarm } = await transport.jsonOnAlarm('cancel', ref, seenVersion(options))
    return { outcome, alarm: view(alarm) }
  }

  const cancelIds = async (ids: readonly string[]) => {
    const outcomes: { id: string; outcome: CancelOutcome | 'not_found' }[] = []
    let next = 0
    const work = async () => {
      for (let at = next++; at < ids.length; at = next++) {
        const id = ids[at]!
        const answer = await orNull(() => cancel(id))
        outcomes[at] = { id, outcome: answer?.outcome ?? 'not_found' }
      }
    }
    await Promise.all(Array.from({ length: Math.min(CONCURRENCY, ids.length) }, work))
    return outcomes
  }

  const onMatching = async (
    action: 'cancel' | 'pause' | 'resume',
    { since, ...filter }: BulkFilter,
    { dryRun }: BulkOptions,
  ): Promise<BulkResult> => {
    const fields = { ...wireNames({ ...filter }), since: since && sinceText(since) }
    return transport.json('act', { body: bodyText({ action, filter: fields, dry_run: dryRun }) })
  }

  return {
    set: async (when, options = {}) => {
      const { tx, traceparent, ...rest } = assertObject('set', options)
      refuseTx(tx)
      const trace = traceHeader([traceparent])
      const { key, ...fields } = setFields('set', { when, ...rest }, zone)
      const isRepeatable = typeof rest.idempotencyKey === 'string'
      // A set by key is safe to repeat. A key that cannot be part of a path goes into the body.
      const { status, text } =
        typeof key === 'string' && !/^\.{0,2}$/.test(key)
          ? await transport.call('setByKey', { params: { key }, body: bodyText(fields), ...trace })
          : await transport.call('set', { body: bodyText({ ...fields, key }), isRepeatable, ...trace })
      return setView(transport.read(text), status === 200)
    },

    setMany: async (items, options = {}) => {
      refuseTx(options.tx)
      if (!Array.isArray(items)) {
        const params = { call: 'setMany', of: '{ when, ...options }', value: typeName(items) }
        throw new WakefulError('argument.not_list', params)
      }
      if (items.length === 0) return []
      const texts = items.map((item: SetManyItem, at) =>
        inField(`items[${at}]`, () => {
          const { traceparent: _, ...rest } = assertObject('setMany', item)
          return bodyText(setFields('setMany', rest, zone))
        }),
      )
      const answer = await transport.json('setMany', {
        body: `{"items":[${texts.join(',')}]}`,
        ...traceHeader(items.map(({ traceparent }: SetManyItem) => traceparent)),
        isRepeatable: items.every(({ idempotencyKey }) => typeof idempotencyKey === 'string'),
      })
      return answer.items.map((wire) => setView(wire, wire.created_at !== wire.updated_at))
    },

    edit,
    reschedule: async (ref, when, { timezone, ...seen } = {}) =>
      edit(ref, { when, ...(timezone !== undefined && { timezone }) }, seen),
    pause: action('pause'),
    resume: action('resume'),
    skipNext: action('skip'),
    fireNow: action('fire'),
    retry: action('retry'),
    complete: (ref, result, { occurrenceId: occurrence_id } = {}) =>
      editOne('complete', ref, { body: bodyText({ result, occurrence_id }) }),
    fail: (ref, reason, { occurrenceId: occurrence_id } = {}) =>
      editOne('fail', ref, { body: bodyText({ reason, occurrence_id }) }),

    cancel,
    // The type of a function with two forms cannot be that of an arrow function.
    cancelMany: ((which: readonly string[] | BulkFilter, options: BulkOptions = {}) =>
      isList(which)
        ? cancelIds(which)
        : onMatching('cancel', { status: 'pending', ...which }, options)) as RemoteAlarms['cancelMany'],
    pauseMany: (filter, options = {}) => onMatching('pause', { status: 'active', ...filter }, options),
    resumeMany: (filter, options = {}) => onMatching('resume', { status: 'paused', ...filter }, options),
    removeSubject: async (subject, options = {}) => {
      refuseTx(options.tx)
      return transport.json('removeSubject', { params: { subject } })
    },
    reset: () => transport.json('reset'),

    append: async (event) => {
      const body = bodyText(wireNames({ ...event }))
      return eventView(await transport.json('append', { body }))
    },
  } satisfies Partial<RemoteAlarms>
}

function isList(which: readonly string[] | BulkFilter): which is readonly string[] {
  return Array.isArray(which)
}

function refuseTx(tx: unknown): void {
  if (tx !== undefined) throw new WakefulError('client.tx', {}, { field: 'tx' })
}

/** The trace of a call, which becomes a header: different traces in one call are refused. */
function traceHeader(traces: readonly (string | undefined)[]): { traceparent?: string } {
  const [first, ...others] = new Set(traces)
  if (others.length > 0) throw new WakefulError('client.traceparents', {}, { field: 'traceparent' })
  return first === undefined ? {} : { traceparent: first }
}

function seenVersion({ updatedAt }: SeenOptions): { seen?: string } {
  return updatedAt === undefined ? {} : { seen: sinceText(updatedAt, 'updatedAt') }
}
