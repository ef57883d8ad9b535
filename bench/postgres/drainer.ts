/** One process of those that share a drain: opens when it is started, and drains from when it is told to until it is ended. */
import { open } from '../../src/index.ts'

const wakeful = await open(process.argv[2]!)
wakeful.handle('noop', () => {})
process.once('message', () => void wakeful.start())
process.once('disconnect', () => void wakeful.close())
process.send!('open')
