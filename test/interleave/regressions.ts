/** A schedule that once broke a promise, and must not again. */
export interface Regression {
  readonly name: string
  readonly scenario: string
  readonly schedule: string
}

/** Every schedule that found something in the store. */
export const regressions: readonly Regression[] = [
  {
    name: 'a connection that breaks within a transaction does not end the process',
    scenario: 'settle whose connection the server ends | cancel, recurring',
    schedule: 'one*3,two',
  },
  {
    name: 'a set by a key whose alarm is pruned at that moment is not lost',
    scenario: 'prune | set, the same key',
    schedule: 'one*12,two',
  },
  {
    name: 'a set by an idempotency key whose alarm is pruned at that moment is not lost',
    scenario: 'prune | set, the same idempotency key',
    schedule: 'two,one',
  },
  {
    name: 'an alarm that is paused while its handler is registered stays paused',
    scenario: 'pause | release of what waits for its handler',
    schedule: 'two*6,one',
  },
  {
    name: 'an occurrence is not queued behind one that is being settled at that moment',
    scenario: 'settle that ends the open one | take that queues the next',
    schedule: 'two*6,one',
  },
]
