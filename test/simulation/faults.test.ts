import { expect, it } from 'vitest'
import { FaultCounter, hasEffect } from './faults.ts'

it('counts how often each fault was injected and how often it hit something in flight', () => {
  const faults = new FaultCounter()
  faults.note('pause', false, null)
  faults.note('kill', true, null)
  const markHit = faults.attempt('kill', null)
  expect(faults.lines).toEqual(['kill 2, 1 in flight', 'pause 1, 0 in flight'])
  // Several hits count once.
  markHit()
  markHit()
  expect([faults.of('kill'), faults.of('close')]).toEqual([
    { count: 2, inFlight: 2 },
    { count: 0, inFlight: 0 },
  ])
})

it('counts a statement that writes or claims as in flight, and no statement of an idle process', () => {
  const statements = [
    'set',
    'settle',
    'claim',
    'transact.commit',
    'acquire.shards',
    'heartbeat',
    'claim.peek',
    'notice',
  ]
  expect(statements.filter(hasEffect)).toEqual(statements.slice(0, 5))
})
