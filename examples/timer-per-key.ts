/** One timer per tenant and key; the fire is an event of the log, written as the timer is settled. */
import { open } from 'wakeful'

const wakeful = await open('sqlite::memory:')
const acme = wakeful.forTenant('acme')
const umbrella = wakeful.forTenant('umbrella')

const timer = { target: { event: true }, key: 'call-7', subject: 'call-7' }
await acme.set({ delay: '1h' }, { ...timer, correlationId: 'request-1' })
// Setting the key again resets the timer, under the new request's correlation id.
await acme.set({ delay: '200ms' }, { ...timer, correlationId: 'request-2', payload: { call: 7 } })
// The same key of another tenant is another timer.
await umbrella.set({ delay: '1h' }, { ...timer, correlationId: 'request-3' })

const { items } = await acme.list({ correlationId: 'request-2' })
console.log(`acme has ${items.length} timer of request-2, due ${items[0]?.nextFireAt?.toISOString()}`)

await wakeful.start()
for await (const event of acme.events({ follow: true })) {
  console.log(event.type, event.key, event.correlationId, JSON.stringify(event.data))
  if (event.type === 'timer.due_time_reached') break
}
console.log('acme:', (await acme.getByKey('call-7'))?.status)

// The service call is deleted: its timers go with it, and other tenants' stay.
console.log('removed:', await umbrella.removeSubject('call-7'))
await wakeful.close()
