import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { fillEnded, fillPending } from './fill.ts'
import { probe, timeReads } from './measure.ts'
import { explain } from './postgres-explain.ts'
import { timeWideReads } from './wide-reads.ts'

/** `npm run test:scale -- [--store postgres] [--reads wide] [--rows 1000000]`. */
const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    store: { type: 'string', default: 'sqlite' },
    reads: { type: 'string' },
  },
})
const rows = Number(values.rows)
if (values.reads === 'wide') await compareWideReads()
else if (values.store === 'postgres') await onPostgres()
else await onSqlite()

/** What every statement reads and touches, with a million pending and a million ended alarms. */
async function onPostgres(): Promise<void> {
  console.log(`filling ${rows} pending and as many ended…`)
  const { fillMs, most, wrong } = await explain(rows)
  console.log(`filled in ${Math.round(fillMs / 1000)} s; the most that one run of each statement did:`)
  console.table(most)
  for (const fault of wrong) console.log(`over the bar: ${fault}`)
  process.exitCode = wrong.length === 0 ? 0 : 1
}

/** Pages of a tenant and of all beside those of an owner, with a million alarms of a thousand tenants. */
async function compareWideReads(): Promise<void> {
  console.log(`filling ${rows}…`)
  const store = values.store === 'postgres' ? 'postgres' : 'sqlite'
  const medians = await timeWideReads(store, rows, 10, 41)
  const lines = Object.entries(medians).map(([name, { owner, tenant, all }]) => [
    name,
    {
      owner: owner.toFixed(2),
      tenant: tenant.toFixed(2),
      all: all.toFixed(2),
      ratio: (tenant / owner).toFixed(2),
    },
  ])
  console.table(Object.fromEntries(lines))
  const slow = Object.entries(medians).filter(([, { owner, tenant }]) => tenant > 2 * owner)
  for (const [name] of slow) console.log(`over the bar: a tenant's ${name} takes more than twice an owner's`)
  process.exitCode = slow.length === 0 ? 0 : 1
}

/** Memory, opening and lateness with a million pending alarms; reads with a million ended ones. */
async function onSqlite(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'wakeful-scale-'))
  try {
    const empty = await probe(join(directory, 'empty.db'))
    console.log(`filling ${rows} pending…`)
    await fillPending(join(directory, 'pending.db'), rows)
    const full = await probe(join(directory, 'pending.db'))
    console.table({
      'open, ms': { empty: empty.openMs, full: full.openMs, bar: '< 1000' },
      'start, ms': { empty: empty.startMs, full: full.startMs, bar: '' },
      'memory, MB': { empty: empty.rssMb, full: full.rssMb, bar: `< ${(empty.rssMb + 50).toFixed(0)}` },
      'late p50, ms': { empty: empty.lateMs[25], full: full.lateMs[25], bar: '' },
      'late max, ms': { empty: empty.lateMs.at(-1), full: full.lateMs.at(-1), bar: '≤ 100' },
    })
    console.log(`filling ${rows} ended…`)
    await fillEnded(join(directory, 'ended.db'), rows)
    const reads = await timeReads(join(directory, 'ended.db'))
    console.table(
      Object.fromEntries(Object.entries(reads).map(([name, ms]) => [name, { 'median, ms': ms.toFixed(2) }])),
    )
    const failures = [
      ...(full.openMs < 1_000 ? [] : ['open took a second or more']),
      ...(full.rssMb - empty.rssMb < 50 ? [] : ['memory grew by 50 MB or more']),
      ...(full.lateMs[0]! >= 0 ? [] : ['an alarm was early']),
      ...(full.lateMs[25]! <= 100 ? [] : ['alarms were late']),
      ...Object.entries(reads).flatMap(([name, ms]) => (ms < 50 ? [] : [`${name} took ${ms.toFixed(0)} ms`])),
    ]
    for (const failure of failures) console.log(`over the bar: ${failure}`)
    process.exitCode = failures.length === 0 ? 0 : 1
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
