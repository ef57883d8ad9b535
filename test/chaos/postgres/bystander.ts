import { open } from '../../../src/index.ts'

/**
 * `node bystander.ts <url> [once]`: a process that opens and starts, and does nothing else; `once` sets an alarm and
 * ends.
 */
const [url, once] = process.argv.slice(2)
const wakeful = await open(url!)
if (once === undefined) {
  wakeful.handle('work', () => {})
  await wakeful.start()
  process.on('SIGTERM', () => void wakeful.close())
} else {
  await wakeful.set({ delay: '1d' }, { target: 'work' })
  await wakeful.close()
}
console.log('ready')
