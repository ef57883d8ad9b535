import { WakefulError } from '../error.ts'
import { type OpenOptions, openOn, storeFile, warn } from '../hosts/node/index.ts'
import type { Wakeful } from '../library/index.ts'
import { CrashableProcess } from './crash-clock.ts'
import { assertRealTimers, VirtualClock } from './virtual-clock.ts'

/** How a test is set up: everything `open` takes, and where and when it takes place. */
export interface TestOptions extends Omit<OpenOptions, 'clock'> {
  /** When it is (2030-01-01T00:00:00Z), or a clock that several share. */
  readonly clock?: VirtualClock | Date | string
  /** Where the alarms are kept (`sqlite::memory:`). */
  readonly store?: string
}

/** Wakeful under virtual time. */
export interface TestBench extends AsyncDisposable {
  readonly wakeful: Wakeful
  readonly clock: VirtualClock
  /** Closes it; time passes until what is in flight has settled, or the drain's bound is reached. */
  close(): Promise<void>
  /**
   * Ends it as `kill -9` would: nothing it was doing is settled, and what it had open is rolled back. Open another bench on
   * the same file and clock to see what comes of it. For a store on a SQLite file.
   */
  crash(): void
}

/**
 * Opens Wakeful for a test: in memory, in UTC, on a clock that stands still until you advance it. Either start it
 * and let time pass, or never start it and run the engine by hand with `tick`, which fires what is due now.
 *
 *     await using bench = await openTest()
 *     const { wakeful, clock } = bench
 *     wakeful.handle('remind', (fire) => sent.push(fire.payload))
 *     await wakeful.start()
 *     await wakeful.set({ delay: '3 days' }, { target: 'remind', payload: 'water the plants' })
 *     await clock.advance('3 days')   // sent: ['water the plants']
 */
export async function openTest(options: TestOptions = {}): Promise<TestBench> {
  assertRealTimers()
  const { clock: start, store = 'sqlite::memory:', ...rest } = options
  const clock = start instanceof VirtualClock ? start : new VirtualClock(start)
  const mortal = new CrashableProcess(clock)
  const onError = (thrown: unknown) => {
    if (!mortal.isDead) (rest.onError ?? warn)(thrown)
  }
  const wakeful = await openOn(
    store,
    { timezone: 'UTC', ...rest, onError, clock: mortal.clock },
    mortal.system,
  )
  const close = async () => {
    if (!mortal.isDead) await clock.until(wakeful.close())
  }
  const crash = () => {
    if (storeFile(store) === null) throw new WakefulError('testing.crash_in_memory', {})
    mortal.die()
  }
  return { wakeful, clock, close, crash, [Symbol.asyncDispose]: close }
}
