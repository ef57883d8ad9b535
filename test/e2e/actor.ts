import type { DatabaseSync } from 'node:sqlite'
import { type Fire, open, WakefulError } from '../../src/index.ts'
import type { Call, Message } from './actors.ts'

/** A separate process on a store, controlled by a test over the channel to its parent. */
const [path = '', options = '{}'] = process.argv.slice(2)
const say = (message: Message) => process.send!(message)

function note(fire: Fire): void {
  const { id, scheduledFor } = fire.occurrence
  const at = Date.now()
  say({
    type: 'fire',
    at,
    message: fire.message,
    occurrenceId: id,
    due: scheduledFor.getTime(),
    attempt: fire.attempt,
  })
}

async function play(): Promise<void> {
  const wakeful = await open(path, {
    ...(JSON.parse(options) as object),
    onError: (thrown) => say({ type: 'engine error', text: String(thrown) }),
  })
  wakeful.handle('note', note)
  wakeful.handle('work', async (fire) => {
    note(fire)
    await new Promise((resolve) => setTimeout(resolve, (fire.payload as { ms: number }).ms))
  })
  wakeful.handle('block', (fire) => {
    note(fire)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, (fire.payload as { ms: number }).ms)
  })
  wakeful.handle('die', () => process.kill(process.pid, 'SIGKILL'))
  wakeful.handle(
    'write',
    (fire) => {
      note(fire)
      ;(fire.tx as DatabaseSync)
        .prepare('INSERT INTO effects (occurrence) VALUES (?)')
        .run(fire.occurrence.id)
    },
    { transactional: true },
  )
  const calls: Record<Call['name'], (...args: never[]) => unknown> = {
    start: () => wakeful.start(),
    set: (delayMs: number, more: object) =>
      wakeful.set(new Date(Date.now() + delayMs), { target: 'note', ...more }),
    get: (id: string) => wakeful.get(id),
    cancel: (id: string) => wakeful.cancel(id),
    stats: () => wakeful.stats(),
    isOwner: () => wakeful.isOwner,
    usage: () => ({ cpu: process.cpuUsage(), switches: process.resourceUsage().voluntaryContextSwitches }),
    close: () => wakeful.close(),
  }
  process.on('message', async ({ id, name, args }: Call) => {
    try {
      say({ type: 'answer', id, value: (await calls[name](...(args as never[]))) ?? null })
    } catch (thrown) {
      say({ type: 'answer', id, error: errorOf(thrown) })
    }
    if (name === 'close') process.disconnect?.()
  })
  say({ type: 'ready' })
}

function errorOf(thrown: unknown): { code: string; text: string } {
  return { code: thrown instanceof WakefulError ? thrown.code : 'raw', text: String(thrown) }
}

play().catch((thrown: unknown) => {
  say({ type: 'failed', error: errorOf(thrown) })
  process.disconnect?.()
})
