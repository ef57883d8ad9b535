/** A program that holds no store: it sets an alarm on a server, follows the log there, and is told when it fired. */
import { open } from 'wakeful'
import { connect } from 'wakeful/client'
import { startServer } from 'wakeful/server'

// The server; elsewhere this is `wakeful serve`.
const wakeful = await open('sqlite::memory:')
wakeful.handle('remind', () => {})
await wakeful.start()
const server = await startServer({ wakeful, host: '127.0.0.1', port: 0, version: '1' })

// The program.
const alarms = connect(server.url, { owner: 'ann' })
const after = await alarms.newest()
const alarm = await alarms.set({ delay: '1s' }, { target: 'remind', message: 'water the plants' })
console.log(`${alarm.message}: ${alarm.status}`)
for await (const { type } of alarms.events({ follow: true, after, alarmId: alarm.id })) {
  console.log(type)
  if (type === 'alarm.fired') break
}
console.log((await alarms.get(alarm.id))?.status)

await server.close()
await wakeful.close()
