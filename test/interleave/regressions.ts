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
  {
    name: 'a set whose commit loses its answer is found by its own process without a beat',
    scenario: 'set of the owner itself whose commit loses its answer | take',
    schedule: 'one*6,one2',
  },
  {
    name: 'an alarm whose target moves to another pool is found there without a beat',
    scenario: 'target moved to another pool | take of its owner',
    schedule: '',
  },
  {
    name: 'what was set while a shard was another’s is found when the shard comes back',
    scenario: 'a shard comes back: set of its owner of meanwhile | take of the one before',
    schedule: '',
  },
  {
    name: 'an owner whose lease has ended tells of what it sets',
    scenario: 'set of an owner whose lease has ended | takeover and take',
    schedule: '',
  },
]
