import { open } from 'wakeful'

const wakeful = await open('sqlite:alarms.db')
wakeful.handle('remind', (fire) => {
  console.log(`${fire.message} (${fire.driftMs} ms late, attempt ${fire.attempt})`, fire.payload)
})
await wakeful.start()

const alarm = await wakeful.set('in 1 second', {
  target: 'remind',
  message: 'call the client',
  payload: { phone: '+39 06 1234' },
})
console.log(`${alarm.id} fires at ${alarm.nextFireAt?.toISOString()}`)

// Only needed here, so that the script waits and then exits. A long-running program leaves this out.
for await (const { type } of wakeful.events({ follow: true, alarmId: alarm.id }))
  if (type === 'alarm.fired') break
await wakeful.close()
