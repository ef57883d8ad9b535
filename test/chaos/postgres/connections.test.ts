import { expect, test } from 'vitest'
import { systemClock } from '../../../src/hosts/node/index.ts'
import { open, type Wakeful } from '../../../src/index.ts'
import { openPostgres } from '../../../src/stores/postgres/index.ts'
import { testDatabase } from '../../postgres/database.ts'
import { Wire } from './wire.ts'

/** Bugs that the campaign found, each tested alone. */
const { url, client } = testDatabase()
async function opened(through: string, onError: (thrown: unknown) => void = () => {}): Promise<Wakeful> {
  return open(through, { onError, drain: '1s' })
}

async function wired(): Promise<{ wire: Wire; through: string }> {
  const through = new URL(url)
  const wire = await Wire.start(Number(through.port))
  through.port = String(wire.port)
  return { wire, through: through.href }
}

const until = async (isSo: () => boolean | Promise<boolean>) => {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 10))
}

test('a connection that breaks while a handler uses it fails that attempt, not the process', async () => {
  const wakeful = await opened(`${url}?application_name=used`)
  const attempts: number[] = []
  wakeful.handle(
    'write',
    async (fire) => {
      attempts.push(fire.attempt)
      if (fire.attempt > 1) return
      const tx = fire.tx as { query(text: string): Promise<{ rows: { pid: number }[] }> }
      const { rows } = await tx.query('SELECT pg_backend_pid() AS pid')
      await client.query('SELECT pg_terminate_backend($1)', [rows[0]!.pid])
      // Long enough for the notice to arrive while no statement is running.
      await until(async () => {
        const { rowCount } = await client.query('SELECT 1 FROM pg_stat_activity WHERE pid = $1', [
          rows[0]!.pid,
        ])
        return rowCount === 0
      })
      await new Promise((resolve) => setTimeout(resolve, 100))
    },
    { transactional: true },
  )
  await wakeful.start()
  const { id } = await wakeful.set(new Date(), { target: 'write', backoff: { baseMs: 10, capMs: 10 } })
  await until(async () => (await wakeful.get(id))?.status === 'fired')
  expect(attempts).toEqual([1, 2])
  await wakeful.close()
})

test('a locked shard is skipped: due alarms in other shards fire', async () => {
  const errors: unknown[] = []
  const wakeful = await opened(url, (thrown) => errors.push(thrown))
  const fired = new Set<string>()
  wakeful.handle('work', (fire) => void fired.add(fire.alarm.id))
  await wakeful.start()
  await client.query('BEGIN')
  await client.query(
    `SELECT 1 FROM wakeful.shards WHERE pool = 'app' ORDER BY slot LIMIT 1 FOR NO KEY UPDATE`,
  )
  try {
    await wakeful.setMany(Array.from({ length: 400 }, () => ({ when: new Date(), target: 'work' })))
    // All but those of one of sixty-four shards.
    await until(() => fired.size > 300)
  } finally {
    await client.query('COMMIT')
  }
  await until(() => fired.size === 400)
  expect(errors).toEqual([])
  await wakeful.close()
})

test.concurrent('a half-open connection is noticed: what was asked for over it is answered, and the clock goes on', async () => {
  const { wire, through } = await wired()
  const wakeful = await opened(through)
  const starts: string[] = []
  wakeful.handle('work', (fire) => void starts.push(fire.occurrence.id))
  await wakeful.start()
  const frozen = wire.freezeNext('commit', 10_000)
  const first = await wakeful.set(new Date(), { target: 'work' })
  expect(await frozen).toBe(true)
  await until(() => starts.length > 0)
  // The answer to the claim's commit is lost too: its batch is unknown to the process and is removed.
  const again = wire.freezeNext('commit', 10_000)
  const second = await wakeful.setMany(
    Array.from({ length: 20 }, () => ({ when: new Date(), target: 'work' })),
  )
  expect(await again).toBe(true)
  const all = [first, ...second]
  await until(async () =>
    (await Promise.all(all.map(({ id }) => wakeful.get(id)))).every((each) => each?.status === 'fired'),
  )
  expect(new Set(starts).size).toBe(all.length)
  const { rows } = await client.query<{ count: string }>('SELECT count(*) FROM wakeful.in_flight_batches')
  expect(rows[0]!.count).toBe('0')
  await wakeful.close()
})

test.concurrent('closes although every connection is half open', async () => {
  const { wire, through } = await wired()
  const wakeful = await opened(through)
  wakeful.handle('work', () => {})
  await wakeful.start()
  wire.sever()
  // What cannot be released is taken over when the lease ends.
  await wakeful
    .close()
    .catch((thrown: unknown) => expect(thrown).toMatchObject({ code: 'store_unavailable' }))
})

test('a restored connection listens again: notices of other processes arrive', async () => {
  // No heartbeat helps.
  const long = { clock: systemClock, heartbeatMs: 600_000, leaseMs: 1_800_000 }
  const ears = await openPostgres({ url: `${url}?application_name=ears`, ...long })
  const other = await opened(url)
  let notices = 0
  ears.onChange(() => {
    notices += 1
  })
  await until(() => notices > 0)
  const before = notices
  await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'ears' AND query LIKE 'LISTEN%'`)
  // The process reports that it listens again.
  await until(() => notices > before)
  await until(async () => {
    const { rowCount } = await client.query(`SELECT 1 FROM pg_stat_activity
      WHERE application_name = 'ears' AND query LIKE 'LISTEN%' AND state = 'idle'`)
    return rowCount === 1
  })
  const afterwards = notices
  await other.set({ delay: '1s' }, { target: 'work' })
  await until(() => notices > afterwards)
  await Promise.all([ears.close(), other.close()])
})
