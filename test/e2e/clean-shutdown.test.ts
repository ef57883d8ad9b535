import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { open, WakefulError } from '../../src/index.ts'
import { Ledger } from '../chaos/ledger.ts'
import { EFFECTS_TABLE, sqliteDamage, sqliteEvidence } from '../chaos/sqlite-evidence.ts'
import { handleAll, Workload } from '../chaos/workload.ts'
import { judge } from '../judge/judge.ts'
import { Random } from '../random.ts'
import { newPath } from './actors.ts'

const DELIVERIES_PER_RUN = 40

test('closing under load loses nothing and delivers nothing twice', async () => {
  const path = newPath()
  const ledgerPath = join(dirname(path), 'ledger')
  const db = new DatabaseSync(path)
  db.exec(`PRAGMA journal_mode = WAL; ${EFFECTS_TABLE}`)
  db.close()
  const ledger = new Ledger(ledgerPath)
  const refusals: unknown[] = []

  for (const run of [1, 2, 3, 4]) {
    const wakeful = await open(path, {
      concurrency: 12,
      onError: (thrown) => ledger.write({ type: 'error', run, text: String(thrown) }),
    })
    handleAll(wakeful, ledger, run)
    await wakeful.start()
    if (run < 4) {
      const workload = new Workload(wakeful, ledger, new Random(run), run, 0)
      const going = workload.go().catch((thrown: unknown) => refusals.push(thrown))
      // On any machine: it is under load when enough has been delivered.
      while ((await wakeful.stats()).completed < run * DELIVERIES_PER_RUN)
        await new Promise((resolve) => setTimeout(resolve, 20))
      // The callers continue while it closes: each is answered or rejected.
      await wakeful.close()
      workload.stop()
      await going
    } else {
      while ((await wakeful.ownership()).some(({ pending }) => pending > 0))
        await new Promise((resolve) => setTimeout(resolve, 50))
      await wakeful.close()
    }
  }
  ledger.close()

  const { violations, figures } = judge(sqliteEvidence(path, ledgerPath))
  console.log(`clean shutdown under load: ${JSON.stringify(figures)}`)
  expect(violations).toEqual([])
  expect(sqliteDamage(path)).toEqual([])
  expect(figures.deliveries).toBeGreaterThan(3 * DELIVERIES_PER_RUN)
  for (const refusal of refusals) {
    expect(refusal).toBeInstanceOf(WakefulError)
    expect(refusal).toMatchObject({ code: 'store_unavailable' })
  }
}, 120_000)
