import { expect, test } from 'vitest'
import { eventTarget, inboxTarget } from './built-in.ts'
import { HandlerTarget } from './handler.ts'
import { Targets } from './targets.ts'

const kinds = [new HandlerTarget('app'), eventTarget]
const withoutInbox = new Targets(kinds)
const targets = new Targets([inboxTarget({} as never), ...kinds])

test.each([
  ['remind', 'handler', 'remind'],
  [{ handler: 'remind' }, 'handler', 'remind'],
  ['inbox', 'inbox', 'inbox'],
  [{ inbox: true }, 'inbox', 'inbox'],
  [{ event: true }, 'event', 'event'],
  ['event', 'handler', 'event'],
])('%j is a target of kind %s', (spec, kind, name) => {
  expect(targets.parse(spec, 'target')).toMatchObject({ kind, name })
})

test('without an inbox, its name is that of a handler', () => {
  expect(withoutInbox.parse('inbox', 'target')).toMatchObject({ kind: 'handler', name: 'inbox' })
})

test.each([
  [{ evnt: true }, 'Unknown kind of target (evnt). Did you mean event? Known: inbox, handler, event.'],
  [{}, 'Unknown kind of target (). Known: inbox, handler, event.'],
  [{ handler: 'h', pol: 1 }, 'Unknown option "pol". Did you mean `pool`? Known: `handler`, `pool`.'],
  [{ event: true, inbox: true }, 'Unknown option "event". Known: `inbox`.'],
  [{ event: 1 }, 'Write the event target as { event: true }.'],
  [7, 'A target must be the name of a handler or an object that names its kind, not 7.'],
])('%j is refused', (spec, message) => {
  expect(() => targets.parse(spec as never, 'target')).toThrow(message)
})
