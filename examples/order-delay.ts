/** An order and its alarm in one transaction, and a handler whose writes commit with its fire. */
import { DatabaseSync } from 'node:sqlite'
import { open } from 'wakeful'

const db = new DatabaseSync('shop.db')
db.exec(`PRAGMA journal_mode = WAL;
  CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, item TEXT NOT NULL, state TEXT NOT NULL) STRICT`)

// The alarms live in the same file as the orders: only then can one transaction hold both.
const wakeful = await open('sqlite:shop.db')

wakeful.handle(
  'expire-order',
  (fire) => {
    const { orderId } = fire.payload as { orderId: number }
    const tx = fire.tx as DatabaseSync
    tx.prepare("UPDATE orders SET state = 'expired' WHERE id = ? AND state = 'unpaid'").run(orderId)
  },
  { transactional: true },
)
await wakeful.start()

async function placeOrder(item: string): Promise<{ orderId: number; alarmId: string }> {
  db.exec('BEGIN IMMEDIATE')
  try {
    const orderId = Number(
      db.prepare("INSERT INTO orders (item, state) VALUES (?, 'unpaid')").run(item).lastInsertRowid,
    )
    if (item === '') throw new Error('an order needs an item')
    const alarm = await wakeful.set(
      { delay: '300ms' },
      { tx: db, target: 'expire-order', payload: { orderId } },
    )
    db.exec('COMMIT')
    return { orderId, alarmId: alarm.id }
  } catch (thrown) {
    db.exec('ROLLBACK')
    throw thrown
  }
}

const { total: before } = await wakeful.stats()
const { orderId, alarmId } = await placeOrder('umbrella')
await placeOrder('').catch((thrown: Error) => console.log(`rolled back: ${thrown.message}`))
console.log('alarms set:', (await wakeful.stats()).total - before)

// Of this alarm alone: the log of the file goes back to its first run.
for await (const { type } of wakeful.events({ follow: true, alarmId })) if (type === 'alarm.fired') break
console.log('order', orderId, db.prepare('SELECT state FROM orders WHERE id = ?').get(orderId))
await wakeful.close()
db.close()
