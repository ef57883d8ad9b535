import { open } from 'wakeful'

const wakeful = await open('sqlite:alarms.db')

const done = Promise.withResolvers<void>()
wakeful.handle('remind', async (fire) => {
  console.log(`${fire.message} (${fire.driftMs} ms late, attempt ${fire.attempt})`, fire.payload)
  done.resolve()
})
await wakeful.start()

const alarm = await wakeful.set('in 1 second', {
  target: 'remind',
  message: 'call the client',
  payload: { phone: '+39 06 1234' },
})
console.log(`${alarm.id} fires at ${alarm.nextFireAt?.toISOString()}`)

await done.promise
await wakeful.close()
