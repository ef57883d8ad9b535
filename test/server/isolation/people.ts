import type { Rights } from '../../../src/contracts/index.ts'
import { caller, type Serving } from '../harness.ts'
import { keysOf } from '../keys-of.ts'
import type { Ids } from './cases.ts'

/** Part of everything the victims wrote; no answer to others may contain it. */
export const MARK = 'classified'

/** An owner with alarms in every state, a wake, a calendar, keys and a default target. */
export async function settled({ url, wakeful }: Serving, tenant: string, owner: string): Promise<Ids> {
  const { keys } = keysOf(wakeful)
  const { key, id: keyId } = await keys(tenant, owner, 'admin')
  const call = caller(url, { authorization: `Bearer ${key}` })
  const name = `${MARK}-${tenant}-${owner}`
  const mine = {
    target: 'inbox',
    ack: 'report',
    label: name,
    subject: `${name}-s`,
    conversation_id: `${name}-c`,
    correlation_id: `${name}-r`,
    wake_message: MARK,
    payload: { secret: MARK },
  }
  const set = async (more: object) => {
    const { status, text, json } = await call('POST', '/v1/alarms', { ...mine, ...more })
    if (status !== 201) throw new Error(text)
    return json
  }
  await call('PUT', '/v1/owner/target', { target: { webhook: `https://example.com/${MARK}` } })
  await call('POST', '/v1/events', { type: 'order.paid', subject: name, data: { secret: MARK } })
  await set({ delay: '0s' })
  await set({ delay: '1h', target: { webhook: `https://example.com/${MARK}` } })
  const paused = await set({ every: '1h' })
  await call('POST', `/v1/alarms/${paused.id}/pause`)
  const alarm = await set({ delay: '0s', key: `${name}-k`, idempotency_key: `${name}-i` })
  await wakeful.tick()
  const page = (await call('GET', '/v1/alarms?limit=1')).json
  const log = (await call('GET', '/v1/events?limit=3')).json
  const wakes = (await call('GET', '/v1/inbox?hold=1ms&limit=100')).json.items
  const calendar = (await call('POST', '/v1/calendar')).json
  // The attackers’ own tenant shares its calendars with them.
  if (tenant === 'globex')
    await wakeful.forTenant(tenant).calendars.put(`${MARK}-days`, { dates: ['2040-12-24'] })
  return {
    alarm: alarm.id,
    occurrence: wakes.find((wake: { alarm_id: string }) => wake.alarm_id === alarm.id).occurrence_id,
    key: `${name}-k`,
    idempotencyKey: `${name}-i`,
    subject: `${name}-s`,
    label: name,
    conversation: `${name}-c`,
    correlation: `${name}-r`,
    target: `https://example.com/${MARK}`,
    keyId,
    tenant,
    listCursor: page.next_cursor,
    eventCursor: log.next_cursor,
    ticket: '',
    token: calendar.path.split('=')[1],
    calendar: `${MARK}-days`,
  }
}

/** Ids of the same shapes that do not exist; cursors cannot be made up, so they are the known ones. */
export function unknownIds(known: Ids): Ids {
  const changed = (text: string) => text.replace(/[0-9]/g, (digit) => String((Number(digit) + 3) % 10))
  const unknown = Object.fromEntries(
    Object.entries(known).map(([name, text]) => [name, changed(text).replaceAll(MARK, 'unknowable')]),
  ) as unknown as Ids
  const { listCursor, eventCursor } = known
  return { ...unknown, tenant: 'nobody', listCursor, eventCursor }
}

/** Callers that try to access what belongs to others. */
export const ATTACKERS = ['reader', 'writer', 'admin', 'platform'] as const

export type Attacker = (typeof ATTACKERS)[number]

const RIGHTS: Readonly<Record<Attacker, Rights>> = {
  reader: 'read',
  writer: 'write',
  admin: 'admin',
  platform: 'admin',
}

/** A new owner of the tenant acme, without any alarms. */
export async function newcomer({ wakeful }: Serving, attacker: Attacker, owner: string) {
  const isPlatform = attacker === 'platform'
  const made = await keysOf(wakeful).keys('acme', isPlatform ? null : owner, RIGHTS[attacker])
  const headers = {
    authorization: `Bearer ${made.key}`,
    ...(isPlatform && { 'wakeful-owner': owner }),
  }
  return { ...made, headers }
}
