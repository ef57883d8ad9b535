/** The process an event belongs to. A dead one has no more events; a paused one has them later. */
export interface Participant {
  readonly isDead: boolean
  /** Until when it is paused, in true time. */
  readonly pausedUntil: number
  /** Called before one of its events, at which it may die. Returns the number of the event. */
  begins(): number
  /** Called after the event. */
  ended(event: number): void
}

interface ScheduledEvent {
  readonly at: number
  readonly order: number
  readonly participant: Participant | null
  readonly happen: () => void
  isCancelled: boolean
}

const TICKS_PER_TURN = 1_000

/**
 * True time, which no process can read: all scheduled events, in order. After each event, everything it triggered runs
 * as far as it can without time passing.
 */
export class Timeline {
  #now = 0
  #order = 0
  readonly #heap: ScheduledEvent[] = []

  /** Milliseconds since the world began. */
  get now(): number {
    return this.#now
  }

  /** Schedules an event. Returns how to cancel it. */
  in(delayMs: number, participant: Participant | null, happen: () => void): () => void {
    this.#order += 1
    const scheduled = {
      at: this.#now + Math.max(0, delayMs),
      order: this.#order,
      participant,
      happen,
      isCancelled: false,
    }
    this.#push(scheduled)
    return () => {
      scheduled.isCancelled = true
    }
  }

  /** Runs all events up to this time. */
  async runTo(end: number): Promise<void> {
    let events = 0
    for (let next = this.#heap[0]; next !== undefined && next.at <= end; next = this.#heap[0]) {
      this.#pop()
      if (next.isCancelled || next.participant?.isDead === true) continue
      this.#now = next.at
      const pausedMs = (next.participant?.pausedUntil ?? 0) - this.#now
      if (pausedMs > 0) {
        this.in(pausedMs, next.participant, next.happen)
        continue
      }
      const event = next.participant?.begins() ?? 0
      happen(next)
      events += 1
      await atRest(events)
      next.participant?.ended(event)
    }
    this.#now = end
  }

  #push(scheduled: ScheduledEvent): void {
    const heap = this.#heap
    let at = heap.push(scheduled) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!isBefore(scheduled, heap[above]!)) break
      heap[at] = heap[above]!
      at = above
    }
    heap[at] = scheduled
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()!
    if (heap.length === 0) return
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below >= heap.length) break
      if (below + 1 < heap.length && isBefore(heap[below + 1]!, heap[below]!)) below += 1
      if (!isBefore(heap[below]!, last)) break
      heap[at] = heap[below]!
      at = below
    }
    heap[at] = last
  }
}

/** Skips an event if its process died in `begins`. */
function happen({ participant, happen }: ScheduledEvent): void {
  if (participant?.isDead !== true) happen()
}

function isBefore(a: ScheduledEvent, b: ScheduledEvent): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}

/**
 * Nothing in the world waits for real I/O. An event only triggers promises, which Node runs before the next tick. A
 * tick costs a tenth of a turn of the event loop; a real turn is taken now and then for other work.
 */
function atRest(events: number): Promise<void> {
  return new Promise((resolve) => {
    if (events % TICKS_PER_TURN === 0) setImmediate(resolve)
    else process.nextTick(resolve)
  })
}
