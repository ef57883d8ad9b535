import { describe, expect, it } from 'vitest'
import { minimalScenario, problemsOf } from './minimal-scenario.ts'
import type { Point } from './network.ts'

const RUN_MS = 30_000
const MARGIN_MS = 12_000

describe('a process killed at a statement', () => {
  it.each(['sent', 'ran', 'answered'] satisfies Point[])(
    'when its settle is %s does nothing more from that moment on',
    async (point) => {
      const small = minimalScenario()
      const { world } = small
      const [ant] = world.processes
      world.killAtStatement(ant!, 'settle', point)
      await world.run(RUN_MS)
      const died = world.trace.lines.findIndex((line) =>
        line.includes(`ant.1 killed at statement: settle ${point}`),
      )
      expect(died).toBeGreaterThan(0)
      // Of its earlier statements, only the settle itself may still arrive.
      const after = world.trace.lines.slice(died + 1).filter((line) => line.includes(' ant.1 '))
      expect(after.filter((line) => !line.endsWith('dead') && !line.endsWith(' settle'))).toEqual([])
      expect(world.faults.of('killAtStatement')).toEqual({ count: 1, inFlight: 1 })
      expect(problemsOf(small, world.now - MARGIN_MS)).toEqual([])
    },
  )

  it('that is sent has sent that one, and not the next one of the same turn', async () => {
    const { world } = minimalScenario()
    await world.run(1_000)
    const [ant] = world.processes
    world.killAtStatement(ant!, 'get', 'sent')
    let isAnswered = false
    const calls = ['a', 'b'].map((id) => ant!.wakeful.get(id).finally(() => (isAnswered = true)))
    for (const call of calls) call.catch(() => {})
    await world.run(10_000)
    const asked = world.trace.lines.filter((line) => line.endsWith('ant.1 get'))
    expect([asked.length, isAnswered]).toEqual([1, false])
  })

  it('that it never sends lives on, as the counts show', async () => {
    const { world } = minimalScenario()
    const [ant] = world.processes
    world.killAtStatement(ant!, 'put_calendar', 'ran')
    await world.run(RUN_MS)
    expect(ant!.isDead).toBe(false)
    expect(world.faults.lines).toContain('killAtStatement 1, 0 in flight')
  })
})

describe('a process killed at an event', () => {
  it.each(['before', 'after'] as const)('does not survive exactly that one: %s it', async (when) => {
    const { world } = minimalScenario()
    const [ant] = world.processes
    await world.run(1_000)
    const last = ant!.events + 10
    world.killAtEvent(ant!, 10, when)
    await world.run(RUN_MS)
    expect([ant!.isDead, ant!.events]).toEqual([true, last])
    expect(world.trace.text).toContain(`met ${when} its event ${last}`)
  })
})
