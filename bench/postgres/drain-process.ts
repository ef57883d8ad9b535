/** One of the processes that share a drain: opens the store, starts on the first message, closes when disconnected. */
import { open } from '../../src/index.ts'

const wakeful = await open(process.argv[2]!)
wakeful.handle('noop', () => {})
process.once('message', () => void wakeful.start())
process.once('disconnect', () => void wakeful.close())
process.send!('open')
