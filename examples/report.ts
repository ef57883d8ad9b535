/** Work that ends after its delivery: the target reports, or the alarm times out. */
import { open } from 'wakeful'

const wakeful = await open('sqlite::memory:')
const running: string[] = []
// Returning only says that the work has begun: with `ack: 'report'` the alarm now waits for its report.
wakeful.handle('transcode', (fire) => void running.push(fire.alarm.id))
await wakeful.start()

const reported = { target: 'transcode', ack: 'report', completionTimeout: '1s' } as const
const film = await wakeful.set('now', { ...reported, label: 'film' })
const trailer = await wakeful.set('now', { ...reported, label: 'trailer', maxFailures: 1 })
const poster = await wakeful.set('now', { ...reported, label: 'poster' })

for await (const { type } of wakeful.events({ follow: true })) {
  if (type === 'alarm.fired' && running.length === 3) break
}
console.log('awaiting their reports:', (await wakeful.stats()).fired)

await wakeful.complete(film.id, '1080p, 94 minutes')
await wakeful.fail(trailer.id, 'no such codec')
// Nobody reports on the poster.
for await (const { type } of wakeful.events({ follow: true, alarmId: poster.id })) {
  if (type === 'alarm.timed_out') break
}

for (const { label, status, result } of (await wakeful.list()).items) console.log({ label, status, result })
console.log((await wakeful.why(poster.id)).next)

// A report that comes after the time-out is believed all the same.
console.log((await wakeful.complete(poster.id, 'finished late')).status)
await wakeful.close()
