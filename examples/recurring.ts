/** Recurring alarms: a calendar in a zone, looked at before it is set, and steered while it runs. */
import { open } from 'wakeful'

const wakeful = await open('sqlite::memory:')
let ticks = 0
wakeful.handle('standup', () => {
  ticks += 1
})

// Nothing is stored by a preview: it answers with the zone, the rule in words and the next instants.
const workdays = { cron: '0 9 * * 1-5', timezone: 'America/New_York' }
const { description, instants } = wakeful.preview(workdays, { count: 3 })
console.log(description)
for (const { local } of instants) console.log(`  ${local}`)

const standup = await wakeful.set(workdays, { key: 'standup', target: 'standup' })
const skipped = await wakeful.skipNext(standup.id)
console.log(`without the next one: ${skipped.nextFireAt?.toISOString()}`)

const paused = await wakeful.pause(standup.id)
console.log(`${paused.status}, next: ${paused.nextFireAt}`)
await wakeful.resume(standup.id)

// The same key again moves the alarm instead of making a second one. Six fields count seconds.
await wakeful.set({ cron: '* * * * * *', count: 2 }, { key: 'standup', target: 'standup' })
await wakeful.start()
let fired = 0
for await (const event of wakeful.events({ follow: true, alarmId: standup.id })) {
  console.log(event.type, JSON.stringify(event.data))
  if (event.type === 'alarm.fired' && ++fired === 2) break
}
console.log(`${ticks} ticks`)
await wakeful.close()
