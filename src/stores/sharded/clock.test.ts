import { describe, expect, it } from 'vitest'
import { DatabaseClock } from './protocol.ts'

/** A machine whose wall clock is wrong, and a database whose clock is right or drifts. */
class Scene {
  monotonic = 1_000
  /** What the database's clock reads beyond the monotonic one. */
  ahead = 5_000_000
  asked = 0
  readonly clock = new DatabaseClock(
    {
      now: () => this.monotonic + this.ahead + 3_600_000,
      monotonic: () => this.monotonic,
      setTimer: () => () => {},
      turn: async () => {},
    },
    () => {
      this.asked += 1
    },
    5_000,
  )

  get databaseNow(): number {
    return Math.floor(this.monotonic + this.ahead)
  }

  /** A sample whose request and answer each take so long. */
  sample(thereMs: number, backMs: number): void {
    const sentAt = this.monotonic
    this.monotonic += thereMs
    const read = this.databaseNow
    this.monotonic += backMs
    this.clock.sample(read, sentAt, this.monotonic)
  }
}

describe('the database’s clock, as a process knows it', () => {
  it('never thinks it is later than the database does, however lopsided the round trip (never-early)', () => {
    for (const [there, back] of [
      [0.2, 0.2],
      [0, 50],
      [50, 0],
      [3, 1],
    ] as const) {
      const scene = new Scene()
      scene.sample(there, back)
      for (let i = 0; i < 100; i++) {
        scene.monotonic += 37.3
        expect(scene.clock.now()).toBeLessThanOrEqual(scene.databaseNow)
      }
    }
  })

  it('keeps the best of its samples, so that a slow answer does not make it late', () => {
    const scene = new Scene()
    scene.sample(0.1, 0.1)
    scene.monotonic += 2_000
    scene.sample(10, 400)
    expect(scene.databaseNow - scene.clock.now()).toBeLessThanOrEqual(3)
  })

  it('follows a clock that runs slower, without ever being ahead of it', () => {
    const scene = new Scene()
    for (let i = 0; i < 1000; i++) {
      scene.sample(0.1, 0.1)
      expect(scene.clock.now()).toBeLessThanOrEqual(scene.databaseNow)
      scene.monotonic += 2_000
      scene.ahead -= 0.8
      expect(scene.clock.now()).toBeLessThanOrEqual(scene.databaseNow)
    }
  })

  it('believes a clock that was set back, or another server’s, at the first sample', () => {
    const scene = new Scene()
    scene.sample(0.1, 0.1)
    scene.ahead -= 60_000
    scene.sample(0.1, 0.1)
    expect(scene.clock.now()).toBeLessThanOrEqual(scene.databaseNow)
    expect(scene.databaseNow - scene.clock.now()).toBeLessThan(3)
  })

  it('believes a clock that was set forward too, and a machine that slept', () => {
    const scene = new Scene()
    scene.sample(0.1, 0.1)
    scene.ahead += 3_600_000
    scene.sample(0.1, 0.1)
    expect(scene.databaseNow - scene.clock.now()).toBeLessThan(3)
  })

  it('asks for a sample when the last one is old, and tells how wrong the host’s clock is', () => {
    const scene = new Scene()
    scene.sample(0.1, 0.1)
    scene.clock.now()
    expect(scene.asked).toBe(0)
    scene.monotonic += 6_000
    scene.clock.now()
    expect(scene.asked).toBe(1)
    expect(Math.round(scene.clock.skewMs / 1000)).toBe(3600)
  })
})
