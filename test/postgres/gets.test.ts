import { expect, test } from 'vitest'
import { Session } from '../../src/stores/postgres/connection/session.ts'
import * as sql from '../../src/stores/postgres/sql/queries.ts'
import { testDatabase } from './database.ts'
import { postgresBench } from './harness.ts'

const { url } = testDatabase()

test('alarms requested in one turn are read together, each in its scope', async () => {
  const { bench, store } = await postgresBench(url)
  const ids = [await bench.alarm({ delay: '1h' }), await bench.alarm({ delay: '2h' })]
  const scope = (await bench.get(ids[0]!)).alarm
  const asked: string[] = []
  const { rows } = Session.prototype
  Session.prototype.rows = function (written, ...values) {
    asked.push(written)
    return rows.call(this, written, ...values)
  }
  try {
    const found = await Promise.all([
      ...[...ids, ids[0]!, 'nobody'].map((id) => store.get(scope, { id })),
      store.get({ tenant: 'another', owner: '' }, { id: ids[1]! }),
    ])
    expect(found.map((snapshot) => snapshot?.alarm.id ?? null)).toEqual([...ids, ids[0]!, null, null])
    expect(asked.filter((written) => written === sql.seqsOfIds)).toHaveLength(1)
  } finally {
    Session.prototype.rows = rows
  }
})
