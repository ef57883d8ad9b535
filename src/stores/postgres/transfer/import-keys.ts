import type { Serial } from '../../../alarm/index.ts'
import { hasEnded, nameConflict, type PortableAlarm, withoutKey } from '../../index.ts'
import { columns, lockSnapshots, snapshotIn, type WriteBatch } from '../rows/index.ts'
import * as sql from '../sql/index.ts'

export const KEY_QUERIES = {
  releaseKeys: 'UPDATE wakeful.alarms SET key = NULL WHERE seq = ANY($1::bigint[])',
} as const

/**
 * The alarms with the keys that they can have here. A key belongs to the alarm that is still to fire: one that has
 * ended gives it up, here or in the export. Two alarms that are still to fire are refused.
 */
export async function settleKeys(
  batch: WriteBatch,
  lines: readonly PortableAlarm[],
): Promise<PortableAlarm[]> {
  const holders = await holdersOf(batch, lines)
  if (holders.size === 0) return [...lines]
  const seqs = [...holders.values()].sort((a, b) => Number(a) - Number(b))
  const known = await lockSnapshots(batch.session, seqs, batch.moment)
  const released: Serial[] = []
  const settled = lines.map((line) => {
    const seq = holders.get(line)
    const holder = seq === undefined ? undefined : snapshotIn(known, seq)
    if (holder === undefined) return line
    if (hasEnded(line)) return withoutKey(line)
    if (!hasEnded(holder)) throw nameConflict(line.alarm, 'key', line.alarm.key!, holder.alarm.id)
    released.push(holder.alarm.seq)
    return line
  })
  if (released.length > 0) batch.session.send(KEY_QUERIES.releaseKeys, released)
  return settled
}

/** The rows of the alarms that have these keys here. */
async function holdersOf(
  { session }: WriteBatch,
  lines: readonly PortableAlarm[],
): Promise<Map<PortableAlarm, Serial>> {
  const keyed = lines.filter(({ alarm }) => alarm.key !== null)
  if (keyed.length === 0) return new Map()
  const names = keyed.map(({ alarm }) => [alarm.tenant, alarm.owner, alarm.key])
  const rows = (await session.rows(sql.seqsOfKeys, ...columns(names))) as [number, Serial][]
  return new Map(rows.map(([place, seq]) => [keyed[place - 1]!, seq]))
}
