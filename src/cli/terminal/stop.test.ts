import { expect, it } from 'vitest'
import { Stop } from './stop.ts'
import type { Terminal } from './terminal.ts'

it('ignores a forwarded Ctrl-C, and exits at the second one', async () => {
  const clock = { ms: 0 }
  const exits: number[] = []
  let send = (_name: string) => {}
  const terminal = {
    monotonic: () => clock.ms,
    exit: (code: number) => exits.push(code),
    onSignal(listener: (name: string) => void) {
      send = listener
      return () => {}
    },
  }
  const stop = new Stop(terminal as unknown as Terminal)
  expect(stop.signal.aborted).toBe(false)
  send('SIGINT')
  expect(await stop.asked).toBe('SIGINT')
  expect(stop.signal.aborted).toBe(true)
  clock.ms = 20
  send('SIGINT')
  expect(exits).toEqual([])
  clock.ms = 1000
  send('SIGINT')
  expect(exits).toEqual([1])
  stop.unlisten()
})
