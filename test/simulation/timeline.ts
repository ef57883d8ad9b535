/** Whose an event is: what is dead has no more events, and what is paused has them later. */
export interface Participant {
  readonly isDead: boolean
  /** Until when nothing of it happens, in true time. */
  readonly pausedUntil: number
  /** Told that something of its own is about to happen, of which it may die; answers its number. */
  begins(): number
  /** Told that this one has happened. */
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
 * True time, which nobody in the world can read: everything that is to happen, in order. After each event the world comes
 * to rest before the next one: all who were woken by it have run as far as they can without time passing.
 */
export class Timeline {
  #now = 0
  #order = 0
  readonly #heap: ScheduledEvent[] = []

  /** Milliseconds since the world began. */
  get now(): number {
    return this.#now
  }

  /** Lets something happen so much later; answers how to prevent it. */
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

  /** Lets time pass up to this moment. */
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

/** Unless it was the end of whom it was to happen to. */
function happen({ participant, happen }: ScheduledEvent): void {
  if (participant?.isDead !== true) happen()
}

function isBefore(a: ScheduledEvent, b: ScheduledEvent): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}

/**
 * Nobody in the world waits for anything real: all that an event sets off are promises, which Node runs to their end
 * before the next tick. A tick costs a tenth of a turn of the event loop, which others need now and then.
 */
function atRest(events: number): Promise<void> {
  return new Promise((resolve) => {
    if (events % TICKS_PER_TURN === 0) setImmediate(resolve)
    else process.nextTick(resolve)
  })
}
