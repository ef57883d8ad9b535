/** An agent that ends its turn by setting its own alarm, and is woken in the same conversation, also after a crash. */
import { open, type Wakeful } from 'wakeful'

interface Notes {
  readonly page: number
}

async function life(): Promise<Wakeful> {
  const wakeful = await open('sqlite:agent.db', { tenant: 'agents', owner: 'researcher-1' })
  wakeful.handle('agent', async ({ alarm, message, payload, occurrence }) => {
    const { page } = payload as Notes
    console.log(`[${alarm.conversationId}] woken: "${message}" at page ${page}`)
    if (page === 3) return
    // Delivery is at least once: keyed by the occurrence, a repeated wake sets no second alarm.
    await wakeful.set('in 300 ms', {
      target: 'agent',
      message: `go on reading from page ${page + 1}`,
      conversationId: alarm.conversationId,
      payload: { page: page + 1 } satisfies Notes,
      idempotencyKey: occurrence.id,
      createdBy: 'researcher-1',
    })
  })
  await wakeful.start()
  return wakeful
}

const first = await life()
const { id } = await first.set('now', {
  target: 'agent',
  message: 'start reading',
  conversationId: 'conversation-42',
  payload: { page: 1 } satisfies Notes,
})
let cursor = 'newest'
for await (const event of first.events({ follow: true, alarmId: id })) {
  cursor = event.cursor
  if (event.type === 'alarm.fired') break
}
await first.close()
console.log('the process is gone; its alarm is a row in agent.db')

const second = await life()
// From where the first life stopped reading: the file keeps the log of every run.
for await (const { type } of second.events({ follow: true, after: cursor })) {
  if (type === 'alarm.fired' && (await second.stats()).pending === 0) break
}
console.log(`${(await second.stats()).pending} alarms pending: the agent has finished`)
await second.close()
